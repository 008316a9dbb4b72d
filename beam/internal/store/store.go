// Package store moves files between the machine and the storage that all workers share: a folder, or a bucket of Google
// Cloud Storage (gs://bucket/key) or of S3 (s3://bucket/key).
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob" // gs
	_ "gocloud.dev/blob/s3blob"  // s3
	"gocloud.dev/gcerrors"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// place is a local path, or a key in a bucket.
type place struct {
	bucket *blob.Bucket // nil for a local path
	key    string
}

// buckets are the open buckets by URL. They stay open: each has a client with its connections and credentials.
var buckets sync.Map

func find(ctx context.Context, url string) (place, error) {
	scheme, rest, remote := strings.Cut(url, "://")
	if !remote || scheme == "file" {
		return place{key: filepath.FromSlash(cmp.Or(rest, url))}, nil
	}
	name, key, _ := strings.Cut(rest, "/")
	if open, ok := buckets.Load(scheme + "://" + name); ok {
		return place{open.(*blob.Bucket), key}, nil
	}
	if !blob.DefaultURLMux().ValidBucketScheme(scheme) || name == "" {
		return place{}, fmt.Errorf("%s: expected a path, gs://BUCKET/KEY, s3://BUCKET/KEY or file:///PATH", url)
	}
	bucket, err := blob.OpenBucket(context.WithoutCancel(ctx), scheme+"://"+name)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", url, err)
	}
	if open, other := buckets.LoadOrStore(scheme+"://"+name, bucket); other { // of another goroutine
		_ = bucket.Close()
		bucket = open.(*blob.Bucket)
	}
	return place{bucket, key}, nil
}

// Fetch returns the path of a local file with the content of url: url itself if it is local, else a file of the same name
// in the folder dir. If url does not exist, neither does the file.
func Fetch(ctx context.Context, url, dir string) (string, error) {
	at, err := find(ctx, url)
	if err != nil || at.bucket == nil {
		return at.key, err
	}
	to := filepath.Join(dir, path.Base(at.key))
	r, err := at.bucket.NewReader(ctx, at.key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		if err = os.Remove(to); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return to, err
	}
	if err == nil {
		err = errors.Join(atomicfile.WriteFunc(to, func(w io.Writer) error { _, err := io.Copy(w, r); return err }), r.Close())
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", url, err)
	}
	return to, err
}

// Publish writes the content of a local file to url at once, which replaces it.
func Publish(ctx context.Context, from, url string) error {
	at, err := find(ctx, url)
	if err != nil || at.bucket == nil && at.key == from {
		return err
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	if at.bucket == nil {
		return atomicfile.WriteFunc(at.key, func(w io.Writer) error { _, err := io.Copy(w, f); return err })
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := at.bucket.NewWriter(ctx, at.key, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err == nil {
		if _, err = io.Copy(w, f); err != nil {
			cancel() // Close writes nothing then
		}
		err = cmp.Or(err, w.Close())
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", url, err)
	}
	return err
}

// Remove removes a file or object.
func Remove(ctx context.Context, url string) error {
	at, err := find(ctx, url)
	if err != nil {
		return err
	}
	if at.bucket == nil {
		return os.Remove(at.key)
	}
	return at.bucket.Delete(ctx, at.key)
}

// Shards returns the files of the shards in a folder or of a pattern, in order.
func Shards(ctx context.Context, data string) ([]string, error) {
	at, err := find(ctx, data)
	if err != nil {
		return nil, err
	}
	if at.bucket == nil {
		return vectorfile.Shards(at.key)
	}
	root := strings.TrimSuffix(data, at.key)
	dir, pattern := path.Split(at.key)
	if !strings.ContainsAny(pattern, "*?[") {
		dir, pattern = strings.TrimSuffix(at.key, "/")+"/", "*-of-*.npz"
	}
	var found []string
	for list := at.bucket.List(&blob.ListOptions{Prefix: strings.TrimPrefix(dir, "/"), Delimiter: "/"}); ; {
		object, err := list.Next(ctx)
		if err == io.EOF {
			return vectorfile.InOrder(found)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", data, err)
		}
		some, err := path.Match(pattern, path.Base(object.Key))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", data, err)
		}
		if some && !object.IsDir {
			found = append(found, root+object.Key)
		}
	}
}
