import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { capturedRequests } from '../../../../src/conversation/request/captureRequest.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { serveAgents, type Serving } from '../../../bridge/test/server/bridgeHarness.ts'
import type { OpenPage, PageContext } from '../../../../test/browser/chromium.ts'
import { waitFactor } from '../../../../test/support/deadline.ts'
import { servedPage } from './servedPage.ts'

/** The inspector in a browser, by what a person finds there. */
export interface OpenInspector extends OpenPage {
  readonly origin: string
  /** Goes to an address of the page, the `#` included. */
  goto(hash?: string): Promise<void>
  tab(name: string): Locator
  button(name: string | RegExp): Locator
  /** The state of the agent that is shown. */
  readonly state: Locator
  readonly prompt: Locator
  /** Says something to the agent that is shown. */
  say(text: string): Promise<void>
  /** Waits until a text is seen, in `place` or anywhere. */
  sees(text: string | RegExp, place?: Locator): Promise<void>
  /** Waits until the agent that is shown is in a state of its machine. */
  isIn(state: string): Promise<void>
  /** Chooses from what can be done with the agent that is shown. */
  choose(name: string): Promise<void>
}

/** A server with agents and the page of the present sources. */
export async function serveInspector(
  context: Pick<PageContext, 'cleanup'>,
  definitions: readonly AgentDefinition[],
  options: Parameters<typeof serveAgents>[2] = {},
): Promise<Serving> {
  await servedPage()
  return await serveAgents(context, definitions, options)
}

/** The inspector at a server, in the page of the case or in one more. */
export async function openInspector(
  { page, problems, open }: PageContext,
  port: number,
  { hash = '', ...pageOptions }: BrowserContextOptions & { readonly hash?: string } = {},
): Promise<OpenInspector> {
  const shown = Object.keys(pageOptions).length === 0 ? { page, problems } : await open(pageOptions)
  const inspector = inspectorIn(shown, `http://127.0.0.1:${port}/`)
  await inspector.goto(hash)
  return inspector
}

function inspectorIn({ page, problems }: OpenPage, origin: string): OpenInspector {
  // So that what is not found is named, before the case is over.
  page.setDefaultTimeout(12_000 * waitFactor())
  const prompt = page.locator('#prompt')
  const state = page.locator('.agent-title .badge.state')
  return {
    page,
    problems,
    origin,
    prompt,
    state,
    async goto(hash = '') {
      // Another hash alone does not load a page anew.
      if (page.url().startsWith(origin)) await page.goto('about:blank')
      await page.goto(origin + hash)
    },
    tab: (name) => page.getByRole('tab', { name }),
    button: (name) => page.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) }),
    async say(text) {
      await prompt.fill(text)
      await prompt.press('Enter')
    },
    sees: (text, place) => (place ?? page.locator('body')).getByText(text).first().waitFor(),
    isIn: (name) => page.locator(`.agent-title .badge.state[data-state="${name}"]`).waitFor(),
    async choose(name) {
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('menu').getByRole('menuitem', { name }).click()
    },
  }
}

/** Starts an agent by the page's dialog; returns once it is shown. */
export async function startAgent(
  inspector: OpenInspector,
  definition: string,
  { id, prompt = '' }: { readonly id: string; readonly prompt?: string },
): Promise<void> {
  const { page } = inspector
  await inspector.button('Start an agent').first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Definition').selectOption(definition)
  await dialog.getByLabel('Id').fill(id)
  await dialog.getByLabel('First prompt').fill(prompt)
  await dialog.getByRole('button', { name: 'Start', exact: true }).click()
  await page.getByRole('main', { name: `Agent ${id}`, exact: true }).waitFor()
  await inspector.state.waitFor()
}

/**
 * Resolves once a JavaScript expression is true in a page; its policy lets no text be evaluated by the page itself. Rejects, and says which it
 * was, when that takes longer than `limitMs`.
 */
export const until = (page: Page, expression: string, limitMs?: number): Promise<void> =>
  inTime(
    expression,
    page.evaluate(`new Promise((resolve) => {
    const look = () => ((${expression}) ? resolve() : setTimeout(look, 15))
    look()
  })`),
    limitMs,
  )

/** Waits for what is to happen; rejects with its name when it takes too long, which a busy machine stretches. */
export async function inTime(what: string, happened: Promise<unknown>, limitMs = 12_000 * waitFactor()): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${Math.round(limitMs)} ms in vain: ${what}`)), limitMs)
  try {
    await Promise.race([happened, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The request that is shown as raw JSON, as it was sent; the case needs leave to read the clipboard. */
export async function copiedRequest({ page }: OpenPage): Promise<string> {
  const bar = page.locator('.request-raw-bar')
  await bar.getByRole('button', { name: 'Copy', exact: true }).click()
  await bar.getByText('Copied').waitFor()
  return JSON.stringify(JSON.parse(String(await page.evaluate('navigator.clipboard.readText()'))))
}

/** The text of what is found, cut or not, as the document has it. */
export const textIn = async (place: Locator): Promise<string> => (await place.textContent()) ?? ''

/** A property of how something looks. */
export const styleOf = (place: Locator, property: string): Promise<string> =>
  place.evaluate((element, name) => {
    const { getComputedStyle } = globalThis as unknown as {
      getComputedStyle(of: unknown): { getPropertyValue(name: string): string }
    }
    return getComputedStyle(element).getPropertyValue(name)
  }, property)

/** The records of an agent. */
export async function recordsOf(store: Store, agentId: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}

/** The payloads a log captured, as they were sent. */
export const payloadsOf = (records: readonly LogRecord[]): string[] =>
  [...capturedRequests(records)].map(({ request }) => JSON.stringify(request))
