/** Colours of a terminal: for a dark or a light background, or none. */
export type Theme = 'dark' | 'light' | 'none'

/** All themes, for `--theme`. */
export const themes: readonly Theme[] = ['dark', 'light', 'none']

type Env = Readonly<Record<string, string | undefined>>

const isSet = (value: string | undefined): boolean => (value ?? '') !== ''

/**
 * Returns the theme of a stream, by the first that applies: `--theme none` (`asked`); `FORCE_COLOR`, which enables colours (force-color.org); no
 * colours if the stream is not a terminal or is a dumb one; the requested theme; `NO_COLOR` (no-color.org). Empty variables count as unset.
 * `COLORFGBG` tells if the background is light; without it the background is assumed to be dark. Pure.
 */
export function themeOf({ isTTY = false }: { readonly isTTY?: boolean }, env: Env, asked?: Theme): Theme {
  if (asked === 'none') return 'none'
  const own = asked ?? backgroundOf(env['COLORFGBG'])
  if (isSet(env['FORCE_COLOR'])) return own
  if (!isTTY || env['TERM'] === 'dumb') return 'none'
  return asked === undefined && isSet(env['NO_COLOR']) ? 'none' : own
}

/** Numbers of the light colours in a palette of 16: white, and all bright ones but dark grey. */
const lightColours = new Set([7, 9, 10, 11, 12, 13, 14, 15])

/** Reads the background from `COLORFGBG`: `fg;bg` or `fg;default;bg`, as colour numbers. */
function backgroundOf(told: string | undefined): 'dark' | 'light' {
  const last = /;(\d{1,2})$/.exec(told ?? '')?.[1]
  return last !== undefined && lightColours.has(Number(last)) ? 'light' : 'dark'
}

/** Returns true if a terminal reports 256 colours. Pure. */
export const hasManyColours = (env: Env): boolean => isSet(env['COLORTERM']) || (env['TERM'] ?? '').includes('256')
