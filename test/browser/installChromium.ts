import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Provision } from '../support/setUp.ts'
import { findChromium } from './findChromium.ts'

/** What to do where there is none, and it cannot be installed from here. */
export const howToInstall = 'install it (apt-get install chromium) or name a browser by CHROMIUM=/path/to/chrome'

/** Whether it can be installed here without asking anybody: by root, on Debian and its kin, unless `CHROMIUM` names another. */
export const canInstallChromium = ({ CHROMIUM: named = '' }: NodeJS.ProcessEnv = process.env): boolean =>
  named === '' && process.getuid?.() === 0 && existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get')

/** Of apt, so that a machine without a network is not waited for. */
const impatience = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=15', '-o', 'Acquire::https::Timeout=15']
const mostMs = 300_000

async function installChromium(): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options = { env, signal: AbortSignal.timeout(mostMs), maxBuffer: 64 * 1024 * 1024 }
  const aptGet = (...args: readonly string[]) => promisify(execFile)('apt-get', [...impatience, ...args], options)
  const install = () => aptGet('install', '-y', '--no-install-recommends', 'chromium')
  await install().catch(async () => {
    // Its lists may be missing or old.
    await aptGet('update')
    await install()
  })
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
