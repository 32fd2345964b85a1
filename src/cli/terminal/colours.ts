import type { SessionStatus } from '../../sessions/session.ts'

/** Text styles for a terminal; each function returns the text unchanged if colours are off. */
export interface Colours {
  dim(text: string): string
  bold(text: string): string
  green(text: string): string
  red(text: string): string
  yellow(text: string): string
}

const codes = { dim: [2, 22], bold: [1, 22], green: [32, 39], red: [31, 39], yellow: [33, 39] } as const

/** Colours for a stream: on only for a terminal that is not dumb, without `NO_COLOR`. */
export function coloursFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Colours {
  const isOn = stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
  const paint =
    ([on, off]: readonly [number, number]) =>
    (text: string): string =>
      isOn && text !== '' ? `\u001B[${on}m${text}\u001B[${off}m` : text
  return {
    dim: paint(codes.dim),
    bold: paint(codes.bold),
    green: paint(codes.green),
    red: paint(codes.red),
    yellow: paint(codes.yellow),
  }
}

const same = (text: string): string => text

/** For what is no terminal. */
export const noColours: Colours = { dim: same, bold: same, green: same, red: same, yellow: same }

const colourOf: { readonly [S in SessionStatus]: 'green' | 'yellow' | 'red' } = {
  completed: 'green',
  running: 'yellow',
  paused: 'yellow',
  aborted: 'red',
  rejected: 'red',
  failed: 'red',
}

/** The colour of a status. */
export const paintStatus = (status: SessionStatus, colours: Colours): ((text: string) => string) =>
  colours[colourOf[status]]
