import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { fullOnly } from '../support/fullOnly.ts'
import { assert, describe, isCi, type CaseContext, type CaseOptions } from '../support/suite.ts'
import { findChromium } from './findChromium.ts'
import { howToInstall } from './installChromium.ts'
import { SharedBrowser } from './sharedBrowser.ts'

/** A page that is closed after its case. */
export interface OpenPage {
  readonly page: Page
  /**
   * Problems so far: errors on its console, uncaught errors, and requests to the network beyond this
   * machine, which are not let through.
   */
  readonly problems: readonly string[]
}

/** Context of a case in a browser. */
export interface PageContext extends CaseContext, OpenPage {
  /** One more page, of its own or of a phone, with nothing in common with the others. */
  open(options?: BrowserContextOptions): Promise<OpenPage>
}

/** Registers a case; the page is blank, 1280 × 800. Default deadline: 15 s. One that fails is tried once more, on a fresh page. */
export type PageIt = (title: string, options: CaseOptions & BrowserContextOptions, body: PageBody) => void
type PageBody = (context: PageContext) => Promise<unknown>

/**
 * A group of cases in headless Chromium, one browser for all of them. A case that fails leaves a screenshot of each of its pages in
 * `.escapement/screenshots`. Where there is no Chromium the cases are skipped and say how to install it; where `CI` is set they fail.
 * `npm test` installs it first where it may.
 */
export function describeInChromium(name: string, register: (it: PageIt) => void): void {
  fullOnly('Chromium')
  describe(name, (it) => {
    if (findChromium() === undefined) {
      const missing = `there is no Chromium; ${howToInstall}`
      return register((title) =>
        isCi() ? it(title, () => assert.unreachable(missing)) : it.skip(`${title} (skipped: ${missing})`),
      )
    }
    const browser = new SharedBrowser()
    register((title, { timeoutMs = 15_000, retries = 1, ...options }, body) => {
      browser.expect()
      let isAgain = false
      it(title, { timeoutMs, retries }, async (context) => {
        if (isAgain) browser.expect()
        isAgain = true
        context.cleanup(() => browser.left())
        const pages = new Pages(await browser.open(), `${name} ${title}`, context)
        await pages.during(async () => await body({ ...context, ...(await pages.open(options)), open: pages.open }))
      })
    })
  })
}

const screenshots = join(import.meta.dirname, '..', '..', '.escapement', 'screenshots')

/** The pages of one case. */
class Pages {
  readonly #browser: Browser
  readonly #title: string
  readonly #context: CaseContext
  readonly #open: OpenPage[] = []
  #seen: Promise<string[]> | undefined

  constructor(browser: Browser, title: string, context: CaseContext) {
    this.#browser = browser
    this.#title = title
    this.#context = context
  }

  readonly open = async (options: BrowserContextOptions = {}): Promise<OpenPage> => {
    const viewport = { width: 1280, height: 800 }
    const context = await this.#browser.newContext({ viewport, serviceWorkers: 'block', ...options })
    this.#context.cleanup(async () => {
      await this.#seen
      await context.close()
    })
    const problems: string[] = []
    await context.route(isElsewhere, (route) => {
      problems.push(`it asked for ${route.request().url()}`)
      return route.abort()
    })
    const page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('crash', () => problems.push('it crashed'))
    const opened = { page, problems }
    this.#open.push(opened)
    return opened
  }

  /** Does something with them; when that fails or takes too long they are photographed. */
  async during(work: () => Promise<unknown>): Promise<void> {
    const late = Promise.withResolvers<never>()
    const { signal } = this.#context
    const onLate = (): void => {
      // At once: its cleanup is about to close the pages.
      this.#seen ??= this.#photograph()
      late.reject(signal.reason)
    }
    signal.addEventListener('abort', onLate, { once: true })
    try {
      await Promise.race([work(), late.promise])
    } catch (thrown) {
      this.#seen ??= this.#photograph()
      const seen = await this.#seen
      if (thrown instanceof Error) thrown.message += `\n${seen.join('\n')}`
      throw thrown
    }
  }

  /** Says where the photographs are, and what had gone wrong in each page. */
  async #photograph(): Promise<string[]> {
    await mkdir(screenshots, { recursive: true })
    const name = this.#title.replaceAll(/\W+/g, '-').slice(0, 120)
    const pages = this.#open.map(async ({ page, problems }, index) => {
      const path = join(screenshots, `${name}${index === 0 ? '' : `-${index + 1}`}.png`)
      const said = problems.slice(0, 10).map((problem) => `  ${problem}`)
      const isTaken = await page.screenshot({ path, timeout: 3_000 }).then(
        () => true,
        () => false,
      )
      return [isTaken ? `the page is in ${path}` : `the page at ${page.url()} could not be photographed`, ...said]
    })
    return (await Promise.all(pages)).flat()
  }
}

const isElsewhere = ({ protocol, hostname }: URL): boolean =>
  /^(https?|wss?):$/.test(protocol) && !/^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname)

/** Problems that a page has while its server is gone: requests are refused, cut short, or go unanswered. */
export const serverGone = /WebSocket connection to|net::ERR_(CONNECTION_|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)/

/** Fails when anything went wrong in a page, but for what is expected. */
export function checkProblems({ problems }: OpenPage, expected: RegExp = /^\b$/): void {
  assert.equal(
    problems.filter((problem) => !expected.test(problem)),
    [],
    'problems in the page',
  )
}
