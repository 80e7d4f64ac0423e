package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
)

// object is an object of JSON, whose fields encoding/json writes in the order of their names.
type object map[string]any

func writeJSON(path string, value object) error {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o666)
}

// target is the system and the processor of a program.
func target(info *debug.BuildInfo) string {
	has := map[string]string{}
	for _, s := range info.Settings {
		has[s.Key] = s.Value
	}
	return has["GOOS"] + "/" + has["GOARCH"]
}

// expression joins licences that all hold.
func (p part) expression() string { return strings.Join(p.licences, " AND ") }

// cycloneDX lists parts by CycloneDX 1.5 (cyclonedx.org/docs/1.5/json).
func cycloneDX(parts []part, target, date string) object {
	component := func(p part, kind string) object {
		c := object{"type": kind, "name": p.name, "version": p.version, "purl": p.purl, "bom-ref": p.purl, "licenses": []object{{"expression": p.expression()}}}
		if p.sum != "" {
			c["properties"] = []object{{"name": "go.sum", "value": p.sum}}
		}
		return c
	}
	program := component(parts[0], "application")
	program["description"] = "for " + target
	var components []object
	var names []string
	for _, p := range parts[1:] {
		components = append(components, component(p, "library"))
		names = append(names, p.purl)
	}
	return object{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":     object{"timestamp": date, "component": program},
		"components":   components,
		"dependencies": []object{{"ref": parts[0].purl, "dependsOn": names}},
	}
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// spdxOf lists parts by SPDX 2.3 (spdx.github.io/spdx-spec/v2.3).
func spdxOf(parts []part, target, date string) object {
	var packages, relations, own []object
	id := func(p part) string { return "SPDXRef-" + notInID.ReplaceAllString(p.name, "-") }
	for i, p := range parts {
		packages = append(packages, object{
			"SPDXID": id(p), "name": p.name, "versionInfo": p.version, "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
			"licenseConcluded": p.expression(), "licenseDeclared": p.expression(), "copyrightText": "NOASSERTION",
			"externalRefs": []object{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": p.purl}},
		})
		if strings.HasPrefix(p.expression(), "LicenseRef-") {
			own = append(own, object{"licenseId": p.expression(), "extractedText": p.texts[0].content})
		}
		relation := object{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": id(p)}
		if i > 0 {
			relation = object{"spdxElementId": id(parts[0]), "relationshipType": "CONTAINS", "relatedSpdxElement": id(p)}
		}
		relations = append(relations, relation)
	}
	name := fmt.Sprintf("swcaffe %s for %s", parts[0].version, target)
	return object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
		"documentNamespace": "https://" + parts[0].name + "/spdx/" + notInID.ReplaceAllString(name, "-"),
		"creationInfo":      object{"created": date, "creators": []string{"Tool: swcaffe-bill"}},
		"packages":          packages, "relationships": relations, "hasExtractedLicensingInfos": own,
	}
}
