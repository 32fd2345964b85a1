import { spawnSync } from 'node:child_process'
import { aptInstall, canAptInstall } from '../../../test/support/aptInstall.ts'
import type { Provision } from '../../../test/support/setUp.ts'

const names = ['zsh', 'fish'] as const

const isThere = (name: string): boolean => spawnSync(name, ['--version']).status === 0

/** The shells, beside bash, whose completion is tried. */
export const shells: Provision = {
  name: 'zsh or fish',
  door: 'packages/cli/test/shells.ts',
  isThere: () => names.every(isThere),
  way: () => (canAptInstall() ? 'by apt-get' : undefined),
  async install() {
    for (const name of names) await aptInstall(name)
    if (!names.every(isThere)) throw new Error('apt-get has installed no zsh or no fish')
  },
  advice: 'install both (apt-get install zsh fish)',
}
