package imageio

import (
	"bytes"
	"fmt"
)

// foreign are formats that swcaffe recognises and does not read, by their first bytes.
var foreign = []struct{ name, first string }{
	{"a JPEG 2000 image", "\x00\x00\x00\x0cjP  \r\n\x87\n"},
	{"a JPEG 2000 codestream", "\xff\x4f\xff\x51"},
	{"a Radiance HDR image", "#?RADIANCE"},
	{"a Radiance HDR image", "#?RGBE"},
	{"a PFM image of floating-point numbers", "PF\n"},
	{"a PFM image of floating-point numbers", "Pf\n"},
	{"a PAM image", "P7\n"},
	{"a Sun raster image", "\x59\xa6\x6a\x95"},
	{"an OpenEXR image", "\x76\x2f\x31\x01"},
	{"a GIF image", "GIF8"},
	{"a BigTIFF image", "II+\x00"},
	{"a BigTIFF image", "MM\x00+"},
	{"a Photoshop document", "8BPS"},
	{"a JPEG XL image", "\xff\x0a"},
	{"a JPEG XL image", "\x00\x00\x00\x0cJXL \r\n\x87\n"},
	{"an icon", "\x00\x00\x01\x00"},
	{"a DICOM image", "DICM"},
	{"a PDF document", "%PDF"},
	{"an SVG drawing", "<svg"},
}

// unknown returns the error for a file of none of the formats that are read.
func unknown(file []byte) error {
	for _, f := range foreign {
		if bytes.HasPrefix(file, []byte(f.first)) {
			return fmt.Errorf("this is %s, which swcaffe does not read: convert it, for example to PNG", f.name)
		}
	}
	if len(file) > 12 && string(file[4:8]) == "ftyp" { // the boxes of ISO 14496-12
		switch brand := string(file[8:12]); brand {
		case "avif", "avis":
			return fmt.Errorf("this is an AVIF image, which swcaffe does not read: convert it, for example to PNG")
		case "heic", "heix", "mif1", "msf1", "hevc":
			return fmt.Errorf("this is a HEIF image, as phones write them, which swcaffe does not read: convert it, for example to JPEG")
		}
	}
	return fmt.Errorf("not a JPEG, PNG, BMP, TIFF, WebP or PNM image (it begins with % x)", file[:min(8, len(file))])
}
