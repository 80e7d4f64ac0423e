# Prints what OpenCV 4.6 computes: /usr/bin/python3 opencv.py > opencv.txt (Debian: python3-opencv). A line has an operation, the size and the
# values of the image, and the size and the values of the result. Images for HSV are narrower than 32 pixels; the test says why.
import cv2, numpy as np
r = np.random.RandomState(1)
def show(name, x, y):
    c = 1 if x.ndim == 2 else x.shape[2]
    print(name, x.shape[0], x.shape[1], c, y.shape[0], y.shape[1], x.tobytes().hex(), y.tobytes().hex())
for name, mode in dict(linear=1, area=3, nearest=0, cubic=2, lanczos4=4).items():
    for c in (1, 3):
        for (h, w), (H, W) in [((12, 10), (7, 9)), ((12, 10), (4, 5)), ((6, 8), (3, 4)), ((5, 7), (13, 11)), ((9, 5), (6, 12)), ((20, 30), (17, 13)), ((9, 9), (3, 3)), ((1, 4), (3, 2))]:
            x = r.randint(0, 256, (h, w, c)).astype(np.uint8)
            if c == 1: x = x[:, :, 0]
            show(name, x, cv2.resize(x, (W, H), interpolation=mode))
x = r.randint(0, 256, (60, 24, 3)).astype(np.uint8)
x[:20] //= 40
x[20:30] = x[20:30, :, :1]
gray = lambda x: cv2.cvtColor(cv2.cvtColor(x, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
show("hsv", x, cv2.cvtColor(x, cv2.COLOR_BGR2HSV))
show("bgr", x, cv2.cvtColor(x, cv2.COLOR_HSV2BGR))
show("luma", x, gray(x))
def distort(x, a, b): # convertTo by way of addWeighted, which saturates and rounds in the same way
    return cv2.addWeighted(x, a, x, 0, b)
show("contrast", x, distort(x, 1.5, 0)); show("brightness", x, distort(x, 1, -20.75))
cross = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3))
y = r.randint(0, 256, (9, 11, 3)).astype(np.uint8)
show("erode", y, cv2.erode(y, cross))
for f in (0.5, 0.37, 1.3, 2.0):
    x = r.randint(0, 256, (11, 14, 3)).astype(np.uint8)
    show("by:%g" % f, x, cv2.resize(x, (0, 0), fx=float(np.float32(f)), fy=float(np.float32(f))))
