import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { serveDesk } from '../../../examples/apps/useChat/server.ts'
import { z } from 'zod'
import { aiSdkChat } from '../../../src/aiSdk.ts'
import {
  createRuntime,
  defineAgent,
  defineTool,
  type AgentDefinition,
  type Model,
  type Runtime,
  type Store,
} from '../../../src/index.ts'
import { scriptedModel, type ScriptedReply } from '../../../src/testing.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { bundleForPage } from '../../../test/browser/bundleForPage.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../test/browser/chromium.ts'
import { assert, type CaseContext } from '../../../test/support/suite.ts'
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

/** The page of the example, with an agent of the case's own. */
async function openPage({ cleanup }: Pick<CaseContext, 'cleanup'>, agent: AgentDefinition): Promise<string> {
  const script = await (bundled ??= bundleForPage(entry))
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const runtime = await createRuntime()
  const chats = await runtime.serve({ server, definitions: [agent], endpoints: [aiSdkChat()] })
  server.on('request', (request, response) => {
    if (chats.handle(request, response)) return
    const isScript = request.url === '/page.js'
    response
      .setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      .end(isScript ? script : '<!doctype html><body><script type="module" src="/page.js"></script>')
  })
  cleanup(async () => {
    server.closeAllConnections()
    server.close()
    await runtime.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function say(page: Page, text: string): Promise<void> {
  await page.fill('input', text)
  await page.click('text=Send')
}

/** Conversation as the page shows it. */
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

  it('answers two calls in one request, and then one of a sub-agent', { timeoutMs: 30_000 }, async (context) => {
    const { page } = context
    const ran: string[] = []
    const asks = (name: string) =>
      defineTool({
        name,
        description: 'Asks first.',
        input: z.object({ of: z.string() }),
        needsApproval: true,
        run: async () => {
          ran.push(name)
          return `${name} is done`
        },
      })
    const worker = defineAgent({
      name: 'worker',
      description: 'Works.',
      model: scriptedModel([{ toolCalls: [{ name: 'oil', input: { of: 'worker' } }] }, 'It is oiled.']),
      tools: [asks('oil')],
    })
    const two = ['wind', 'stop'].map((name) => ({ name, input: { of: name } }))
    const model = scriptedModel([
      { text: 'I ask.', toolCalls: two },
      { toolCalls: [{ name: 'worker', input: { task: 'Oil it.' } }] },
      'All is well.',
    ])
    const url = await openPage(
      context,
      defineAgent({ name: 'boss', model, tools: [asks('wind'), asks('stop')], agents: [worker] }),
    )
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.postData() ?? '')
    })
    await page.goto(url)
    await say(page, 'See to it.')
    const asked = page.locator('p', { hasText: 'approval-requested' })
    await asked.nth(1).waitFor()
    await asked.nth(0).getByText('Approve').click()
    await page.waitForSelector('text=approval-responded')
    assert.equal(sent.length, 1, 'it waits for the other answer')
    await asked.nth(0).getByText('Deny').click()
    await page.waitForSelector('text={"of":"worker"} approval-requested')
    await page.click('text=Approve')
    await page.waitForSelector('text=All is well.')
    const seen = [
      'See to it.',
      'I ask.',
      '{"of":"wind"} output-available',
      '{"of":"stop"} output-denied',
      '{"task":"Oil it."} output-available',
      '{"of":"worker"} output-available',
      'All is well.',
    ]
    assert.equal(await shown(page), seen)
    assert.equal(ran, ['wind', 'oil'])
    assert.equal(sent.length, 3)
    await page.reload()
    await page.waitForSelector('text=All is well.')
    assert.equal(await shown(page), seen)
    checkProblems(context)
  })

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
