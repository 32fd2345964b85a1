type Env = Readonly<Record<string, string | undefined>>

/** Values of `TERM_PROGRAM` whose terminals take links. */
const programs = new Set(['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper'])
/** Values of `TERM` likewise. */
const terms = new Set(['xterm-kitty', 'xterm-ghostty', 'alacritty', 'foot', 'foot-extra', 'wezterm'])
/** The first version of VTE that takes them without a crash, as it writes its own: 0.50.4. */
const leastVte = 5004

/**
 * Whether a terminal is known to take links (OSC 8). Not within tmux and screen, which may show what they do not know, and hide what is
 * around them. Pure.
 */
export function takesLinks(env: Env): boolean {
  const { TERM: term = '', TERM_PROGRAM: program = '', TMUX: tmux = '', STY: screen = '' } = env
  if (tmux !== '' || screen !== '' || /^(?:tmux|screen|dumb|linux)/.test(term)) return false
  if (terms.has(term) || programs.has(program) || (env['WT_SESSION'] ?? '') !== '') return true
  return Number(env['VTE_VERSION'] ?? 0) >= leastVte
}

/** An address that no terminal can take for something else: visible ASCII alone, of a bounded length. */
const plainAddress = /^[\u0021-\u007E]{1,2000}$/

/** A text that leads to an address; as it is where that has other characters than an address has. `text` may have colours. Pure. */
export const linked = (text: string, address: string): string =>
  plainAddress.test(address) ? `\u001B]8;;${address}\u001B\\${text}\u001B]8;;\u001B\\` : text
