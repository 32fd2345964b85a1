type Env = Readonly<Record<string, string | undefined>>

/** Values of `TERM_PROGRAM` for terminals that support links. */
const programs = new Set(['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper'])
/** Values of `TERM` for terminals that support links. */
const terms = new Set(['xterm-kitty', 'xterm-ghostty', 'alacritty', 'foot', 'foot-extra', 'wezterm'])
/** First version of VTE, in its own notation, that supports links without a crash: 0.50.4. */
const leastVte = 5004

/**
 * Returns true if a terminal is known to support links (OSC 8). False within tmux and screen, which may print the codes and hide the text around
 * them. Pure.
 */
export function takesLinks(env: Env): boolean {
  const { TERM: term = '', TERM_PROGRAM: program = '', TMUX: tmux = '', STY: screen = '' } = env
  if (tmux !== '' || screen !== '' || /^(?:tmux|screen|dumb|linux)/.test(term)) return false
  if (terms.has(term) || programs.has(program) || (env['WT_SESSION'] ?? '') !== '') return true
  return Number(env['VTE_VERSION'] ?? 0) >= leastVte
}

/** Matches an address that no terminal can misread: visible ASCII only, of a bounded length. */
const plainAddress = /^[\u0021-\u007E]{1,2000}$/

/** Returns a text as a link to an address; unchanged if the address has invalid characters. `text` may have colours. Pure. */
export const linked = (text: string, address: string): string =>
  plainAddress.test(address) ? `\u001B]8;;${address}\u001B\\${text}\u001B]8;;\u001B\\` : text
