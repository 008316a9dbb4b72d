package choices

import (
	"reflect"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

type schema = settings.Schema

// SchemaDialect is the dialect of JSON Schema that the program writes.
const SchemaDialect = "https://json-schema.org/draft/2020-12/schema"

// ExperimentSchema returns the JSON Schema of experiment files. It is stricter than [spec.Parse] in one way: names are in
// lower case. It accepts combinations of settings that only the program can reject.
func ExperimentSchema() schema {
	pattern := func(form string) schema { return schema{"type": "string", "pattern": "^(" + form + ")$"} }
	number := func(least int) schema { return schema{"type": "integer", "minimum": least} }
	const interval, share = `\d+\.\.\d+`, `none|[0-9.]+ *%`
	forms := map[reflect.Type]schema{
		reflect.TypeFor[spec.Classes]():     settings.OneOrList(settings.AnyOf(number(2), pattern(`[0-9., ]+`))),
		reflect.TypeFor[spec.GroupCount]():  settings.AnyOf(number(2), pattern("auto|"+interval)),
		reflect.TypeFor[spec.RankRange]():   settings.AnyOf(number(1), pattern("auto|"+interval)),
		reflect.TypeFor[factor.Penalties](): pattern(`none|[a-z0-9-]+(\+[a-z0-9-]+)*`),
	}
	object := func(of any) schema { return settings.SchemaOf(settings.List(of), forms) }
	part := settings.AnyOf(number(0), pattern("rest|"+share))
	forms[reflect.TypeFor[spec.Portion]()] = settings.AnyOf(part, schema{
		"type": "object", "properties": schema{"share": part, "count": part, "min": number(1)}, "additionalProperties": false})
	forms[reflect.TypeFor[spec.Links]()] = settings.AnyOf(pattern(share), object(spec.Links{}))
	forms[reflect.TypeFor[spec.Ranks]()] = settings.OneOrList(settings.AnyOf(
		number(1), pattern(`auto|`+interval+`|\d*k|\d* *\*? *k *[+-] *\d+`), object(spec.AutoRank{})))
	forms[reflect.TypeFor[spec.Crop]()] = settings.AnyOf(schema{"enum": []string{"square", "whole"}}, object(spec.Crop{}))
	by := settings.List(spec.Cluster{})
	by[0].Values = append(spec.Clusterers(), spec.Largest)
	forms[reflect.TypeFor[spec.Cluster]()] = settings.AnyOf(schema{"enum": by[0].Values}, settings.SchemaOf(by, forms))
	forms[reflect.TypeFor[spec.Features]()] = featuresSchema(forms)
	forms[reflect.TypeFor[spec.Methods]()] = methodsSchema(forms)
	out := object(spec.Experiment{})
	out["$schema"], out["title"], out["required"] = SchemaDialect, "Experiment file of partwise", []string{"data", "methods"}
	out["$defs"] = settings.SchemaOf(settings.List(spec.Method{}), forms)["properties"]
	return out
}

// methodsSchema returns the schema of the list of methods. The settings that methods share are definitions.
func methodsSchema(forms map[reflect.Type]schema) schema {
	forms[reflect.TypeFor[*spec.Tune]()] = schema{"type": "object", "properties": schema{"by": schema{"enum": settings.List(spec.Tune{})[0].Values}},
		"required": []string{"by"}, "additionalProperties": schema{"type": "array", "minItems": 1}}
	method := func(name schema, required string, own []settings.Setting, shared ...string) schema {
		of := settings.SchemaOf(own, forms)
		properties := of["properties"].(schema)
		for name, one := range properties {
			properties[name] = settings.OneOrList(one.(schema))
		}
		for _, name := range shared {
			properties[name] = settings.OneOrList(schema{"$ref": "#/$defs/" + name})
		}
		properties["name"], properties["as"], of["required"] = name, schema{"type": "string"}, strings.Fields(required)
		return of
	}
	all := []schema{{"enum": Names("methods")}, method(schema{"type": "string"}, "name results", nil, "results", "cluster")}
	for _, e := range methodEntries() {
		all = append(all, method(schema{"const": e.Name, "description": e.Title}, "name", e.Settings,
			lists.Map(e.Shared, func(s settings.Setting) string { return s.Name })...))
	}
	return schema{"type": "array", "items": settings.AnyOf(all...), "minItems": 1}
}

// featuresSchema returns the schema of features: a name, a mapping, or a list of both. The settings of a feature stand
// beside its name or below it.
func featuresSchema(forms map[reflect.Type]schema) schema {
	properties := map[string][]schema{}
	add := func(of any) {
		for name, one := range settings.SchemaOf(settings.List(of), forms)["properties"].(schema) {
			properties[name] = append(properties[name], one.(schema))
		}
	}
	for _, info := range features.Extractors() {
		add(info.Zero)
		below := settings.SchemaOf(settings.List(info.Zero), forms)
		below["properties"].(schema)["at"] = schema{"type": "string"}
		properties[info.Name] = append(properties[info.Name], below, schema{"type": "boolean"})
		if info.Form != "" {
			properties[info.Name] = append(properties[info.Name], schema{"const": info.Form, "description": info.Title})
		}
	}
	for _, of := range []any{spec.Features{}, spec.Words{}, spec.Weighted{}} {
		add(of)
	}
	for _, name := range []string{"whiten", "propagate"} {
		properties[name] = append(properties[name], schema{"enum": []string{"auto", "none"}})
	}
	words := settings.SchemaOf(settings.List(spec.Learning{}), forms)
	properties["words"] = []schema{{"type": "integer", "minimum": 1}, words}
	for name := range words["properties"].(schema) {
		delete(properties, name)
	}
	whole := schema{}
	for name, all := range properties {
		whole[name] = settings.AnyOf(all...)
	}
	names := slices.Compact(slices.Sorted(slices.Values(lists.Map(features.Extractors(), func(i features.Info) string { return i.Name }))))
	return settings.OneOrList(settings.AnyOf(schema{"enum": names}, schema{"type": "object", "properties": whole, "additionalProperties": false}))
}
