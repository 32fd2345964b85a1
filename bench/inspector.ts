/**
 * The inspector page in headless Chromium: how long a long session takes from the navigation to its last message in sight, and how
 * smoothly it scrolls; the same of a hierarchy of many agents; and how far the page is behind when an agent has told its events as
 * fast as asked. All on one machine: the server, the browser and the bench share its cores, and nothing is drawn by a GPU.
 * Aims: a session of 10,000 nodes opens in less than 3 s and scrolls at 30 frames a second; 1,000 events a second leave no lag.
 *
 *   node bench/inspector.ts [--nodes 10000] [--agents 1000] [--rate 1000] [--seconds 10] [--rounds 3] [--only session|agents|events]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium, type Browser, type Page } from 'playwright-core'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, fileStore, policyModel, type Runtime } from '../src/index.ts'
import { findChromium } from '../test/browser/findChromium.ts'
import { servedPage } from '../test/inspector/servedPage.ts'
import { format, median } from './measure.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '10000' },
    agents: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
})
const [nodes, agents, rate, seconds, rounds] = [
  Number(values.nodes),
  Number(values.agents),
  Number(values.rate),
  Number(values.seconds),
  Number(values.rounds),
] as const
const words = 'What was found in the file, in some words of no particular meaning. '

const look = defineTool({
  name: 'look',
  description: 'Looks at something.',
  input: z.object({ at: z.number() }),
  run: ({ at }) => `${at}: ${words.repeat(4)}`,
})

await servedPage()
const program = findChromium()
const browser = await chromium.launch({
  ...(program === undefined ? {} : { executablePath: program }),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
})
const folder = await mkdtemp(join(tmpdir(), 'escapement-bench-'))
/** A runtime on a folder of its own, and its server's port. */
async function serve(name: string, definitions: Parameters<Runtime['spawn']>[0][] = []) {
  const runtime = await createRuntime({ store: fileStore(join(folder, name)) })
  const { port } = await runtime.serve({ definitions })
  return { runtime, origin: `http://127.0.0.1:${port}/` }
}

/** Milliseconds from the navigation until an expression holds, in a browser that knows nothing of the page. */
async function opening(shown: Browser, url: string, expression: string): Promise<{ page: Page; ms: number }> {
  const context = await shown.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(url, { waitUntil: 'commit' })
  const ms = await page.evaluate<number>(`new Promise((resolve) => {
    const look = () => ((${expression}) ? requestAnimationFrame(() => resolve(performance.now())) : setTimeout(look, 5))
    look()
  })`)
  return { page, ms }
}

/** Frames a second, and the longest in milliseconds, while a list is scrolled through for 3 s. */
function scrolling(page: Page, selector: string): Promise<{ rate: number; longest: number }> {
  return page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector(${JSON.stringify(selector)})
    const started = performance.now()
    let [frames, longest, last, step] = [0, 0, started, 180]
    list.scrollTop = 0
    const frame = (time) => {
      frames += 1
      longest = Math.max(longest, time - last)
      last = time
      const before = list.scrollTop
      list.scrollTop += step
      if (list.scrollTop === before) step = -step
      if (time - started < 3000) requestAnimationFrame(frame)
      else resolve({ rate: frames / ((time - started) / 1000), longest })
    }
    requestAnimationFrame(frame)
  })`)
}

async function session(): Promise<void> {
  const calls = 20
  const turns = Math.ceil(nodes / (calls + 1))
  const model = policyModel((_, { turnIndex }) =>
    turnIndex < turns
      ? {
          text: words,
          toolCalls: Array.from({ length: calls }, (__, at) => ({
            name: 'look',
            input: { at: turnIndex * calls + at },
          })),
        }
      : 'All was seen.',
  )
  const limits = { turns: turns + 2 }
  const looker = defineAgent({ name: 'looker', model, tools: [look], compaction: false, limits })
  const { runtime, origin } = await serve('session', [looker])
  const agent = await runtime.spawn(looker, { id: 'long' })
  await agent.prompt('Look at everything.').result
  const isShown = `document.querySelector('.conversation-sum')?.textContent.includes('${format(agent.conversation.log().length)} nodes')
    && document.querySelector('.conversation-row') !== null`
  for (const isRunning of [true, false]) {
    if (!isRunning) await agent.close()
    const opened: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const { page, ms } = await opening(browser, `${origin}#agent=long`, isShown)
      opened.push(ms)
      if (round === rounds - 1) {
        const { rate: frames, longest } = await scrolling(page, '.conversation-scroll')
        console.log(
          `${format(nodes)} nodes, ${isRunning ? 'running' : 'at rest'}: open in ${format(median(opened) / 1_000, 2)} s, ` +
            `scroll at ${format(frames)} frames/s (longest ${format(longest)} ms)`,
        )
      }
      await page.context().close()
    }
  }
  await runtime.close()
}

async function hierarchy(): Promise<void> {
  const idle = defineAgent({ name: 'idle', model: policyModel(() => 'ok'), maxChildren: 100 })
  const { runtime, origin } = await serve('agents', [idle])
  let root = await runtime.spawn(idle)
  for (let count = 1; count < agents; count += 1) {
    if (count % 50 === 0) root = await runtime.spawn(idle)
    else await root.spawn(idle)
  }
  const isShown = `document.querySelector('.running .count')?.textContent === '${agents}'
    && document.querySelector('.agent-row') !== null`
  const { page, ms } = await opening(browser, origin, isShown)
  const { rate: frames, longest } = await scrolling(page, '#agents')
  console.log(
    `${format(agents)} agents: listed in ${format(ms / 1_000, 2)} s, scroll at ${format(frames)} frames/s (longest ${format(longest)} ms)`,
  )
  await page.context().close()
  await runtime.close()
}

/** Calls that report as they go, a turn each; the conversation stays short. */
const reports = 100
const work = defineTool({
  name: 'work',
  description: 'Works, and says how far it is.',
  input: z.object({ from: z.number() }),
  async run({ from }, { report }) {
    for (let told = 0; told < reports; told += 1) {
      await until(from + told)
      report({ done: told, of: reports, text: words })
    }
    return 'done'
  },
})

let begun = 0

/** Resolves when so many events should have been told. */
async function until(count: number): Promise<void> {
  const wait = begun + (count * 1_000) / rate - performance.now()
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
}

/** Turns of one short call, one after the other: events of all kinds, and requests that grow with the conversation. */
const turns = policyModel(async (_, { turnIndex }) => {
  await until(turnIndex * 12)
  return turnIndex * 12 < rate * seconds ? { toolCalls: [{ name: 'look', input: { at: turnIndex } }] } : 'Over.'
})
const progress = policyModel((_, { turnIndex }) => {
  const from = turnIndex * (reports + 12)
  return from < rate * seconds ? { toolCalls: [{ name: 'work', input: { from } }] } : 'Over.'
})

async function events(): Promise<void> {
  const define = (name: string, model: typeof turns) =>
    defineAgent({ name, model, tools: [look, work], compaction: false, limits: { turns: 1_000_000 } })
  const { runtime, origin } = await serve('events')
  for (const teller of [define('progress', progress), define('turns', turns)])
    for (const view of ['conversation', 'timeline', 'chart']) {
      const id = `${teller.name}-${view}`
      const agent = await runtime.spawn(teller, { id })
      const url = `${origin}#agent=${id}&view=${view}`
      const { page } = await opening(browser, url, `document.querySelector('#prompt') !== null`)
      let told = 0
      agent.subscribe(() => void (told += 1))
      const frames = page.evaluate<number>(`new Promise((resolve) => {
        let count = 0
        const frame = () => {
          count += 1
          if (globalThis.isOver) resolve(count)
          else requestAnimationFrame(frame)
        }
        requestAnimationFrame(frame)
      })`)
      begun = performance.now()
      await agent.prompt('Tell all.').result
      const took = performance.now() - begun
      await page.evaluate(`new Promise((resolve) => {
        const look = () => (document.querySelector('.agent-title .state').textContent === 'idle' ? resolve() : setTimeout(look, 2))
        look()
      })`)
      const lag = performance.now() - begun - took
      await page.evaluate('globalThis.isOver = true')
      console.log(
        `${format(told)} events of ${teller.name} in ${format(took / 1_000, 1)} s (${format((told * 1_000) / took, 0)}/s), ` +
          `${view}: ${format(lag, 0)} ms behind at the end, ${format(((await frames) * 1_000) / took)} frames/s`,
      )
      await page.context().close()
    }
  await runtime.close()
}

try {
  const parts = { session, agents: hierarchy, events }
  for (const [name, run] of Object.entries(parts)) if (values.only === undefined || values.only === name) await run()
} finally {
  await browser.close()
  await rm(folder, { recursive: true })
}
