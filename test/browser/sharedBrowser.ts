import type { Browser } from 'playwright-core'
import { findChromium } from './findChromium.ts'

const launchArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

async function launch(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return await chromium.launch({ executablePath: findChromium()!, args: launchArguments })
}

let held: Browser | undefined

/** Opens a browser for all files of this process, which ends with it; does nothing where there is none to open. */
export async function holdBrowser(): Promise<void> {
  if (held?.isConnected() === true || findChromium() === undefined) return
  held = await launch()
}

/** The browser of the cases of a group: the one that is held, or one that opens with the first case and closes with the last. */
export class SharedBrowser {
  #browser: Promise<Browser> | undefined
  #expected = 0

  /** There is one more case to come. */
  expect(): void {
    this.#expected += 1
  }

  async open(): Promise<Browser> {
    if (held?.isConnected() === true) return held
    return await (this.#browser ??= launch())
  }

  /** A case is over. */
  async left(): Promise<void> {
    this.#expected -= 1
    if (this.#expected > 0) return
    const browser = this.#browser
    // A case that is tried again opens another.
    this.#browser = undefined
    await (await browser?.catch(() => undefined))?.close()
  }
}
