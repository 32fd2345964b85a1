import { spawnSync } from 'node:child_process'
import { aptInstall, canAptInstall } from '../../../test/support/aptInstall.ts'
import type { Provision } from '../../../test/support/setUp.ts'

/** True if there is a tmux. */
export const hasTmux = (): boolean => spawnSync('tmux', ['-V']).status === 0

/** The program in which tests see what a terminal shows. */
export const tmux: Provision = {
  name: 'tmux',
  door: 'packages/cli/test/tmux.ts',
  isThere: hasTmux,
  way: () => (canAptInstall() ? 'by apt-get' : undefined),
  async install() {
    await aptInstall('tmux')
    if (!hasTmux()) throw new Error('apt-get has installed no tmux')
  },
  advice: 'install it (apt-get install tmux)',
}
