/** A picture of values, in its own units. */
export interface AreaBox {
  readonly width: number
  readonly height: number
  /** Free space above the largest value. */
  readonly top: number
}

/** Returns the x of the value at index `at` of `count` values. */
export const areaX = (at: number, count: number, { width }: AreaBox): string =>
  ((at * width) / Math.max(1, count - 1)).toFixed(1)

export const areaY = (value: number, most: number, { height, top }: AreaBox): string =>
  (height - ((height - top) * value) / most).toFixed(1)

/** Returns the points of a line over values; 0 is no value, and the line passes over it. Pure. */
export const areaPoints = (values: readonly number[], most: number, box: AreaBox): string =>
  values
    .flatMap((value, at) => (value === 0 ? [] : `${areaX(at, values.length, box)},${areaY(value, most, box)}`))
    .join(' ')
