"""Image classifiers and detectors of torchvision with small images and random weights."""
import torch
import torchvision as tv

from zoo_tools import both_exporters, make_weights_lively


def image(size, batch=1):
    return torch.rand((batch, 3, size, size), generator=torch.Generator().manual_seed(9))


def classifier(make, size=64):
    model = make_weights_lively(make(weights=None, num_classes=10)).eval()
    return model, [image(size)], ["image"], ["scores"], {"image": {0: "batch"}}


class Detector(torch.nn.Module):
    """Reads one image; returns boxes, labels and scores."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        found = self.model([image])[0]
        return found["boxes"], found["labels"], found["scores"]


def detector(make, size, **more):
    model = make_weights_lively(make(weights=None, weights_backbone=None, num_classes=5, **more)).eval()
    return Detector(model).eval(), [image(size)[0]], ["image"], ["boxes", "labels", "scores"], {}


class Upsampler(torch.nn.Module):
    """Operators of segmentation and super-resolution networks: resizing in all modes, transposed convolution, pixel
    shuffle, padding, gathering along an axis, scattering, top-k, masks."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.up = torch.nn.ConvTranspose2d(8, 8, 4, stride=2, padding=1)
        self.norm = torch.nn.GroupNorm(2, 8)
        self.instance = torch.nn.InstanceNorm2d(8, affine=True)
        self.shuffle = torch.nn.PixelShuffle(2)
        self.act = torch.nn.PReLU()

    def forward(self, image):
        f = torch.nn.functional
        x = self.act(self.norm(self.first(f.pad(image, (1, 2, 3, 0), mode="reflect"))))
        y = self.instance(self.up(x))
        y = f.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)
        z = f.interpolate(f.interpolate(x, scale_factor=2.0, mode="nearest"), size=x.shape[2:], mode="bicubic",
                          align_corners=True)
        both = self.shuffle(torch.cat([y, z[:, :8]], dim=1).repeat(1, 2, 1, 1))
        top, where = torch.topk(both.flatten(2), 7, dim=2)
        picked = torch.gather(both.flatten(2), 2, where.flip(2))
        placed = torch.zeros_like(both.flatten(2)).scatter(2, where, top * 2)
        grid = f.affine_grid(torch.tensor([[[0.9, 0.1, 0.0], [-0.1, 0.8, 0.1]]]), [1, 8, 9, 9], align_corners=False)
        seen = f.grid_sample(x, grid, align_corners=False)
        return picked, placed, seen, f.avg_pool2d(both, 3, 2, ceil_mode=True), both.argmax(dim=1), torch.cumsum(both, 3)


def upsampler():
    return Upsampler().eval(), [image(20)], ["image"], ["picked", "placed", "seen", "pooled", "best", "sums"], {}


def entries():
    models, detection = tv.models, tv.models.detection
    made = []
    for name in ("mobilenet_v3_small", "efficientnet_b0", "resnet18", "shufflenet_v2_x0_5", "squeezenet1_1",
                 "regnet_y_400mf"):
        made += both_exporters(name, "classifier", lambda m=getattr(models, name): classifier(m))
    made += both_exporters("swin_t", "classifier", lambda: classifier(models.swin_t, 32))
    made += both_exporters("convnext_tiny", "classifier", lambda: classifier(models.convnext_tiny, 32))
    made += both_exporters("upsampler", "segmentation", upsampler)
    # Detectors are exported by tracing only, which records the control flow of this image. Random weights give many
    # boxes, so their number is limited.
    made += both_exporters("ssdlite", "detector",
                           lambda: detector(detection.ssdlite320_mobilenet_v3_large, 96, detections_per_img=20,
                                            topk_candidates=30))[:1]
    made += both_exporters("fasterrcnn", "detector",
                           lambda: detector(detection.fasterrcnn_mobilenet_v3_large_320_fpn, 96, min_size=96,
                                            max_size=128, rpn_post_nms_top_n_test=30, rpn_pre_nms_top_n_test=60,
                                            box_score_thresh=0.01))[:1]
    made += both_exporters("retinanet", "detector",
                           lambda: detector(detection.retinanet_resnet50_fpn, 64, min_size=64, max_size=64,
                                            topk_candidates=20, detections_per_img=10))[:1]
    return made
