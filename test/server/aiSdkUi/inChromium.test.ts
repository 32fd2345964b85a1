import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { serveDesk } from '../../../examples/apps/useChat/server.ts'
import type { Model, Store } from '../../../src/index.ts'
import type { Runtime } from '../../../src/createRuntime.ts'
import { scriptedModel, type ScriptedReply } from '../../../src/testing.ts'
import { memoryStore } from '../../../src/stores/memoryStore.ts'
import { bundleForPage } from '../../browser/bundleForPage.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../browser/chromium.ts'
import { assert, type CaseContext } from '../../support/suite.ts'
import { asKilled, heldReply } from './chatHarness.ts'

const entry = join(import.meta.dirname, '..', '..', '..', 'examples', 'apps', 'useChat', 'page.ts')
let bundled: Promise<string> | undefined
const pay = (text = 'I pay it back.'): ScriptedReply => ({
  text,
  toolCalls: [{ name: 'refund', input: { order: 'o7', euros: 30 } }],
})

interface Desk {
  readonly url: string
  readonly server: Server
  readonly runtime: Runtime
  readonly store: Store
}

/** The example, with a model of the case's own; everything is closed after it. */
async function openDesk(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  model: Model,
  { store = memoryStore(), port = 0 }: { readonly store?: Store; readonly port?: number } = {},
): Promise<Desk> {
  const script = await (bundled ??= bundleForPage(entry))
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  const runtime = await serveDesk(server, model, store, script)
  cleanup(async () => {
    server.closeAllConnections()
    server.close()
    await runtime.close().catch(() => {})
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, runtime, store }
}

async function say(page: Page, text: string): Promise<void> {
  await page.fill('input', text)
  await page.click('text=Send')
}

/** What the page shows of the conversation. */
const shown = (page: Page): Promise<string[]> => page.locator('section p').allInnerTexts()
const answers = [
  'My clock never came.',
  'I pay it back.',
  '{"order":"o7","euros":30} output-available',
  'It is on its way.',
]

describeInChromium('the page with useChat', (it) => {
  it(
    'streams, asks for an approval and is the same after a reload',
    { timeoutMs: 30_000 },
    async (context: PageContext) => {
      const { page } = context
      const desk = await openDesk(context, scriptedModel([pay(), 'It is on its way.']))
      await page.goto(desk.url)
      await say(page, 'My clock never came.')
      await page.waitForSelector('text=approval-requested')
      await page.reload()
      await page.click('text=Approve')
      await page.waitForSelector('text=It is on its way.')
      assert.equal(await shown(page), answers)
      await page.reload()
      await page.waitForSelector('text=It is on its way.')
      assert.equal(await shown(page), answers)
      checkProblems(context)
    },
  )

  it(
    'goes on in the middle of an answer after a reload, and in a second tab',
    { timeoutMs: 30_000 },
    async (context) => {
      const { page } = context
      const reply = heldReply('It is ', 'It is on its way.')
      const desk = await openDesk(context, scriptedModel([reply]))
      await page.goto(desk.url)
      await say(page, 'Where is it?')
      await page.waitForSelector('text=It is')
      await page.reload()
      await page.waitForSelector('text=It is')
      const other = await context.open()
      await other.page.goto(desk.url)
      await other.page.waitForSelector('text=It is')
      reply.release()
      for (const one of [page, other.page]) {
        await one.waitForSelector('text=It is on its way.')
        assert.equal(await shown(one), ['Where is it?', 'It is on its way.'])
      }
      checkProblems(context)
      checkProblems(other)
    },
  )

  it('stops the run', { timeoutMs: 30_000 }, async (context) => {
    const { page } = context
    const desk = await openDesk(context, scriptedModel([heldReply('It is ', 'It is on its way.'), 'Well then.']))
    await page.goto(desk.url)
    await say(page, 'Where is it?')
    await page.waitForSelector('text=It is')
    const ended = new Promise<string>((resolve) => {
      desk.runtime.agent('chat')!.subscribe((event) => {
        if (event.type === 'run.end') resolve(event.stopReason)
      })
    })
    await page.click('text=Stop')
    assert.is(await ended, 'aborted')
    await say(page, 'And now?')
    await page.waitForSelector('text=Well then.')
    checkProblems(context)
  })

  it(
    'goes on when the server was killed in the middle of an answer, and is back',
    { timeoutMs: 30_000 },
    async (context) => {
      const { page } = context
      const desk = await openDesk(context, scriptedModel([heldReply('It is ', 'It is on its way.')]))
      await page.goto(desk.url)
      await say(page, 'Where is it?')
      await page.waitForSelector('text=It is')
      const store = await asKilled(desk.store)
      const { port } = new URL(desk.url)
      desk.server.close()
      desk.server.closeAllConnections()
      await page.waitForSelector('text=/network|fetch/i')
      const after = await openDesk(context, scriptedModel(['It arrives tomorrow.']), { store, port: Number(port) })
      await page.waitForSelector('text=It arrives tomorrow.')
      assert.equal(await shown(page), ['Where is it?', 'It arrives tomorrow.'])
      assert.is(after.runtime.agent('chat')?.state, 'idle')
      checkProblems(context, /ERR_|Failed to load/)
    },
  )
})
