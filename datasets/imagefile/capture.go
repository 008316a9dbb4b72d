package imagefile

import (
	"os"
	"strings"
	"time"

	"github.com/bep/imagemeta"
)

// Capture tells when, where and with which camera a photo was taken.
type Capture struct {
	// Taken is the time on the camera's clock as if in UTC, zero if unknown. Times without a time zone are the rule.
	Taken               time.Time
	Latitude, Longitude float64 // in degrees; both are zero if unknown
	Camera              string
}

var metadataFormats = map[string]imagemeta.ImageFormat{
	"JPEG": imagemeta.JPEG, "PNG": imagemeta.PNG, "TIFF": imagemeta.TIFF, "WebP": imagemeta.WebP,
}

// ReadCapture returns what the EXIF block of an image file tells about its capture. Missing and invalid values, and files
// that cannot be read, are unknown.
func ReadCapture(path string) (c Capture) {
	f, err := os.Open(path)
	if err != nil {
		return c
	}
	defer f.Close()
	kind, err := readFormat(f)
	if err != nil || kind == nil || metadataFormats[kind.name] == 0 {
		return c
	}
	var tags imagemeta.Tags
	_, _ = imagemeta.Decode(imagemeta.Options{ // values before an error hold
		R: f, ImageFormat: metadataFormats[kind.name], Sources: imagemeta.EXIF,
		HandleTag: func(tag imagemeta.TagInfo) error { tags.Add(tag); return nil },
	})
	text := func(name string) string {
		s, _ := tags.EXIF()[name].Value.(string)
		return strings.TrimSpace(strings.Trim(s, "\x00"))
	}
	for _, name := range []string{"DateTimeOriginal", "CreateDate", "DateTimeDigitized"} {
		taken, err := time.Parse("2006:01:02 15:04:05", text(name))
		if err == nil && taken.Year() > 1900 {
			c.Taken = taken
			if fraction, err := time.ParseDuration("0." + text("SubSecTimeOriginal") + "s"); err == nil && fraction >= 0 && fraction < time.Second {
				c.Taken = taken.Add(fraction)
			}
			break
		}
	}
	if lat, long, err := tags.GetLatLong(); err == nil && lat >= -90 && lat <= 90 && long >= -180 && long <= 180 {
		c.Latitude, c.Longitude = lat, long
	}
	c.Camera = text("Model")
	if make, _, _ := strings.Cut(text("Make"), " "); make != "" && !strings.HasPrefix(strings.ToLower(c.Camera), strings.ToLower(make)) {
		c.Camera = strings.TrimSpace(make + " " + c.Camera)
	}
	return c
}
