/** Which colours a terminal gets: for a dark or a light background, or none. */
export type Theme = 'dark' | 'light' | 'none'

/** All themes, for `--theme`. */
export const themes: readonly Theme[] = ['dark', 'light', 'none']

type Env = Readonly<Record<string, string | undefined>>

const isSet = (value: string | undefined): boolean => (value ?? '') !== ''

/**
 * The theme of a stream. In this order: `--theme none` (`asked`); `FORCE_COLOR`, which gives colours to anything (force-color.org); no colours for what
 * is no terminal or a dumb one; a theme that is asked for; `NO_COLOR` (no-color.org). Variables that are empty are not set. Whether the
 * background is light is told by `COLORFGBG`, else it is taken to be dark. Pure.
 */
export function themeOf({ isTTY = false }: { readonly isTTY?: boolean }, env: Env, asked?: Theme): Theme {
  if (asked === 'none') return 'none'
  const own = asked ?? backgroundOf(env['COLORFGBG'])
  if (isSet(env['FORCE_COLOR'])) return own
  if (!isTTY || env['TERM'] === 'dumb') return 'none'
  return asked === undefined && isSet(env['NO_COLOR']) ? 'none' : own
}

/** Numbers of the colours of a palette of 16 that are light: white, and all bright ones but dark grey. */
const lightColours = new Set([7, 9, 10, 11, 12, 13, 14, 15])

/** `COLORFGBG` is `fg;bg` or `fg;default;bg`, in numbers of colours. */
function backgroundOf(told: string | undefined): 'dark' | 'light' {
  const last = /;(\d{1,2})$/.exec(told ?? '')?.[1]
  return last !== undefined && lightColours.has(Number(last)) ? 'light' : 'dark'
}

/** Whether a terminal has 256 colours, as far as it tells. Pure. */
export const hasManyColours = (env: Env): boolean => isSet(env['COLORTERM']) || (env['TERM'] ?? '').includes('256')
