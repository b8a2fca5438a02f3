"""Places on the globe near a reference: a plane along its meridian and parallel, as the modelling has it (moment_tensor.f90)."""
import math

EQUATOR, E2 = 6378137.0, 6.69437999014e-3        # of the WGS84 ellipsoid [m]


def radii(latitude):
    """Of curvature along the meridian, and of the parallel circle [m]."""
    w = 1 - E2 * math.sin(math.radians(latitude)) ** 2
    return EQUATOR * (1 - E2) / w ** 1.5, EQUATOR / math.sqrt(w) * math.cos(math.radians(latitude))


def offset_of(lon, lat, lon0, lat0):
    """North and east [m] of a place from a reference [degrees], with the radii half-way between."""
    meridian, parallel = radii((lat + lat0) / 2)
    return math.radians(lat - lat0) * meridian, math.radians((lon - lon0 + 180) % 360 - 180) * parallel


def place_of(north, east, lon0, lat0):
    """Longitude and latitude [degrees]: the way back of offset_of."""
    lat = lat0
    for _ in range(20):
        lat = lat0 + math.degrees(north / radii((lat + lat0) / 2)[0])
    lon = lon0 + math.degrees(east / radii((lat + lat0) / 2)[1])
    return (lon + 180) % 360 - 180, lat
