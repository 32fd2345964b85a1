import { aptInstall, canAptInstall } from '../support/aptInstall.ts'
import type { Provision } from '../support/setUp.ts'
import { findChromium } from './findChromium.ts'

/** Advice where there is no browser and none can be installed from here. */
export const howToInstall =
  'install it (apt-get install chromium-headless-shell) or name a browser by CHROMIUM=/path/to/chrome'

/** True if it can be installed here without asking anybody: by root, on Debian and its kin, unless `CHROMIUM` names another. */
export const canInstallChromium = ({ CHROMIUM: named = '' }: NodeJS.ProcessEnv = process.env): boolean =>
  named === '' && canAptInstall()

async function installChromium(): Promise<void> {
  // Older releases have it with windows alone.
  await aptInstall('chromium-headless-shell').catch(() => aptInstall('chromium'))
  if (findChromium() === undefined) throw new Error('apt-get has installed no Chromium')
}

export const chromium: Provision = {
  name: 'Chromium',
  door: 'test/browser/chromium.ts',
  isThere: () => findChromium() !== undefined,
  way: () => (canInstallChromium() ? 'by apt-get' : undefined),
  install: installChromium,
  advice: howToInstall,
}
