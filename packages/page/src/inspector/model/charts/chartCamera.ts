import { measureText } from '../../../../../charts/src/textMeasure.ts'

/** Position and scale of a picture: the point `p` of the picture is at `p * scale + offset` in view. Pixels. */
export interface Camera {
  readonly x: number
  readonly y: number
  readonly scale: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

export const scaleLimits = { least: 0.1, most: 3 } as const

/** Scale below which a picture shows only names. */
const nearest = 0.6
const readableSize = 12.5

/** Returns the size of names that can be read at a scale; `null` if the picture is near enough for all its texts. Pure. */
export const farText = (scale: number): number | null => (scale >= nearest ? null : Math.ceil(readableSize / scale))

/** Space between a name and each side of its box, as a part of its size. */
const besideName = 0.2
/** Smallest factor by which a name is shrunk to fit. */
const smallest = 0.96

/** Returns the size of a box's name when seen from afar, and the box widened to hold it; an outer box keeps its place. Pure. */
export function farName(
  box: Size & { readonly x: number; readonly y: number; readonly label: string; readonly isOuter?: boolean },
  far: number,
): { readonly size: number; readonly around: Size & { readonly x: number; readonly y: number } } {
  if (box.isOuter === true) return { size: far, around: box }
  const wide = (size: number): number => measureText(box.label, size) + 2 * besideName * size
  const size = far * Math.max(smallest, Math.min(1, box.width / wide(far)))
  const width = Math.max(box.width, wide(size))
  const { y, height } = box
  return { size, around: { x: box.x - (width - box.width) / 2, y, width, height } }
}

/** Width of a junction that is a mark, without a name. */
const mark = 14

/** The part of a box that decides whether its name is seen from afar. */
type Named = Parameters<typeof farName>[0] & { readonly id: string; readonly kind: string; readonly depth: number }

type Around = ReturnType<typeof farName>['around']

const isOver = (a: Around, b: Around): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** Returns the area of a name: for an outer box, only the part that its name takes. */
function placeOf(box: Named, far: number): Around {
  const { size, around } = farName(box, far)
  if (box.isOuter !== true) return { ...around, y: around.y + around.height / 2 - size * 0.6, height: size * 1.2 }
  return { x: around.x + 14, y: around.y, width: measureText(box.label, size), height: size * 1.5 }
}

/**
 * Returns the ids of the boxes whose names are shown from afar: none that would lie on another, those in `first` before others, then the outermost.
 * Pure.
 */
export function namesFromAfar(
  boxes: readonly Named[],
  far: number,
  first: { has(id: string): boolean },
): ReadonlySet<string> {
  // The name of a machine takes the place of no state's.
  const rank = ({ id, kind, depth }: Named): number => (kind === 'machine' ? Infinity : first.has(id) ? -1 : depth)
  const taken: Around[] = []
  const named = new Set<string>()
  for (const box of boxes
    .filter(({ kind, width }) => kind !== 'initial' && width > mark)
    .toSorted((a, b) => rank(a) - rank(b))) {
    const place = placeOf(box, far)
    if (taken.some((other) => isOver(place, other))) continue
    taken.push(place)
    named.add(box.id)
  }
  return named
}

const clamped = (scale: number): number => Math.max(scaleLimits.least, Math.min(scaleLimits.most, scale))

/** Returns a camera that shows the whole picture, centred, at most at its own size. Pure. */
export function fitCamera(picture: Size, viewport: Size): Camera {
  if (picture.width <= 0 || picture.height <= 0) return { x: 0, y: 0, scale: 1 }
  const scale = clamped(Math.min(1, viewport.width / picture.width, viewport.height / picture.height))
  return {
    x: (viewport.width - picture.width * scale) / 2,
    y: Math.max(0, (viewport.height - picture.height * scale) / 2),
    scale,
  }
}

/** Scales by a factor around a point of the viewport, which stays in its place. Pure. */
export function zoomed(camera: Camera, factor: number, at: { readonly x: number; readonly y: number }): Camera {
  const scale = clamped(camera.scale * factor)
  const by = scale / camera.scale
  return { x: at.x - (at.x - camera.x) * by, y: at.y - (at.y - camera.y) * by, scale }
}

/** Returns a camera with a box of the picture in the middle of the viewport. Pure. */
export function centred(scale: number, box: Size & { readonly x: number; readonly y: number }, viewport: Size): Camera {
  return {
    x: viewport.width / 2 - (box.x + box.width / 2) * scale,
    y: viewport.height / 2 - (box.y + box.height / 2) * scale,
    scale,
  }
}

const step = 48

/**
 * Returns the camera after a key; `undefined`: the key does nothing, `fit`: the whole picture is to be shown. Digits are keys of the page. Pure.
 */
export function cameraKey(key: string, camera: Camera, viewport: Size): Camera | 'fit' | undefined {
  const middle = { x: viewport.width / 2, y: viewport.height / 2 }
  switch (key) {
    case 'ArrowLeft':
      return { ...camera, x: camera.x + step }
    case 'ArrowRight':
      return { ...camera, x: camera.x - step }
    case 'ArrowUp':
      return { ...camera, y: camera.y + step }
    case 'ArrowDown':
      return { ...camera, y: camera.y - step }
    case '+':
    case '=':
      return zoomed(camera, 1.25, middle)
    case '-':
    case '_':
      return zoomed(camera, 0.8, middle)
    case 'Z':
      return zoomed(camera, 1 / camera.scale, middle)
    case 'z':
      return 'fit'
    default:
      return undefined
  }
}
