import type { SessionStatus } from '../../../sessions/src/session.ts'
import { hasManyColours, themeOf, type Theme } from './theme.ts'

const styles = [
  'dim',
  'bold',
  'italic',
  'underline',
  'strike',
  'green',
  'red',
  'yellow',
  'blue',
  'magenta',
  'cyan',
] as const

type Style = (typeof styles)[number]

/** Text styles for a terminal; each function returns the text unchanged if colours are off. */
export interface Colours extends Readonly<Record<Style, (text: string) => string>> {
  /** The theme; `none`: colours are off. */
  readonly theme: Theme
}

/** Codes that switch each style on and off. */
type Codes = Readonly<Record<Style, readonly [on: string, off: number]>>

const dark: Codes = {
  dim: ['2', 22],
  bold: ['1', 22],
  italic: ['3', 23],
  underline: ['4', 24],
  strike: ['9', 29],
  green: ['32', 39],
  red: ['31', 39],
  yellow: ['33', 39],
  blue: ['94', 39],
  magenta: ['95', 39],
  cyan: ['36', 39],
}

const light: Codes = { ...dark, blue: ['34', 39], magenta: ['35', 39] }

/** Codes for light backgrounds. The palette's yellow, cyan and faint text are hardly readable on white. */
const lightOf256: Codes = {
  ...light,
  dim: ['38;5;242', 39],
  green: ['38;5;28', 39],
  red: ['38;5;160', 39],
  yellow: ['38;5;130', 39],
  blue: ['38;5;26', 39],
  magenta: ['38;5;90', 39],
  cyan: ['38;5;24', 39],
}

/** Returns the colours for a stream. `asked`: the theme that a person chose. See `themeOf`. */
export function coloursFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
  asked?: Theme,
): Colours {
  const theme = themeOf(stream, env, asked)
  return theme === 'none'
    ? noColours
    : coloursOf(theme, theme === 'dark' ? dark : hasManyColours(env) ? lightOf256 : light)
}

const coloursOf = (theme: Theme, codes: Codes): Colours => {
  const paint =
    (style: Style) =>
    (text: string): string => {
      const [on, off] = codes[style]
      return text === '' ? '' : `\u001B[${on}m${text}\u001B[${off}m`
    }
  return { theme, ...(Object.fromEntries(styles.map((style) => [style, paint(style)])) as Omit<Colours, 'theme'>) }
}

const same = (text: string): string => text

/** Colours for output that is not a terminal: all off. */
export const noColours: Colours = {
  theme: 'none',
  ...(Object.fromEntries(styles.map((style) => [style, same])) as Omit<Colours, 'theme'>),
}

const colourOf: { readonly [S in SessionStatus]: 'green' | 'yellow' | 'red' } = {
  completed: 'green',
  running: 'yellow',
  paused: 'yellow',
  aborted: 'red',
  rejected: 'red',
  failed: 'red',
}

/** Returns the function that colours a status. */
export const paintStatus = (status: SessionStatus, colours: Colours): ((text: string) => string) =>
  colours[colourOf[status]]
