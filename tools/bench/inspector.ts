/**
 * The inspector page in headless Chromium: what its files weigh; when it first paints, with many agents; how long a long session takes from the navigation to its last message in sight, and how
 * smoothly it scrolls; the same of a hierarchy of many agents; and how far the page is behind when an agent has told its events as
 * fast as asked. All on one machine: the server, the browser and the bench share its cores, and nothing is drawn by a GPU.
 * Aims: a session of 10,000 nodes opens in less than 3 s; 1,000 agents paint in less than 1 s; every list scrolls at 60 frames a second; at 2,000
 * events a second no task is longer than 50 ms. On a machine that does more at the same time, read the milliseconds of the page's own work
 * (`busy`), which are those of its thread and nobody else's.
 *
 *   node tools/bench/inspector.ts [--nodes 10000] [--agents 1000] [--rate 2000] [--seconds 10] [--rounds 3] [--only weight|session|agents|events]
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { chromium, type Browser, type Page } from 'playwright-core'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, fileStore, policyModel, type Runtime } from '../../src/index.ts'
import { findChromium } from '../../test/browser/findChromium.ts'
import { servedPage } from '../../packages/page/test/inspector/servedPage.ts'
import { format, median } from './measure.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '10000' },
    agents: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '2000' },
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

/**
 * Measures the size of the files that the browser loads before it can draw, as they are served, and of all files; the worker that lays out
 * charts counts separately.
 */
async function weight(): Promise<void> {
  const assets = join(import.meta.dirname, '..', '..', 'dist', 'inspector', 'assets')
  const page = await readFile(join(assets, '..', 'index.html'), 'utf8')
  const names = (await readdir(assets)).filter((file) => /\.(?:js|css)$/.test(file))
  const texts = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(assets, name), 'utf8')] as const)),
  )
  // Files of earlier builds may still be there: what counts is what the page leads to.
  const used = new Set(names.filter((name) => page.includes(name)))
  for (const name of used) for (const other of names) if (texts.get(name)!.includes(other)) used.add(other)
  const isScript = (name: string): boolean => name.endsWith('.js') && !name.includes('Worker')
  /** The scripts that the page and these parts of it cannot do without. */
  const toDraw = (...parts: readonly string[]): string[] => {
    const begin = [...used].filter(
      (name) => isScript(name) && (page.includes(name) || parts.some((part) => name.startsWith(`${part}-`))),
    )
    const needed = new Set(begin)
    for (const name of needed)
      for (const [, imported] of texts.get(name)!.matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g))
        if (imported !== undefined && used.has(imported)) needed.add(imported)
    return [...needed]
  }
  const loads = {
    styles: [...used].filter((name) => name.endsWith('.css')),
    'scripts of the overview': toDraw('start'),
    'scripts of a conversation': toDraw('agentPane'),
    'scripts of a conversation with details and Markdown': toDraw(
      'agentPane',
      'detailsPane',
      'markdown',
      'richTextParts',
    ),
    'all scripts': [...used].filter(isScript),
    'the layout worker': [...used].filter((name) => name.includes('Worker')),
  }
  for (const [load, files] of Object.entries(loads)) {
    const bodies = files.map((name) => texts.get(name)!)
    const kB = (bytes: (text: string) => number): string =>
      format(bodies.reduce((sum, body) => sum + bytes(body), 0) / 1_000, 1)
    const [raw, gzip, brotli] = [
      kB(Buffer.byteLength),
      kB((text) => gzipSync(text, { level: 9 }).length),
      kB((text) => brotliCompressSync(text).length),
    ]
    console.log(`${load}: ${raw} kB in ${files.length} files, gzip ${gzip}, brotli ${brotli}`)
  }
}

/** How the page's thread is used from now on: the longest task, and the milliseconds that it works, without what it waits for. */
async function working(page: Page): Promise<() => Promise<string>> {
  const debug = await page.context().newCDPSession(page)
  await debug.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busyMs = async (): Promise<number> => {
    const { metrics } = await debug.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000
  }
  await page.evaluate(`globalThis.tasks = []; globalThis.watch = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
    watch.observe({ type: 'longtask' })`)
  const before = await busyMs()
  const began = performance.now()
  return async () => {
    const tasks = await page.evaluate<number[]>(
      'watch.takeRecords().forEach(({ duration }) => tasks.push(duration)), watch.disconnect(), tasks',
    )
    const busy = (await busyMs()) - before
    const share = busy / (performance.now() - began)
    await debug.detach()
    const longest =
      tasks.length === 0
        ? 'no task above 50 ms'
        : `${tasks.length} tasks above 50 ms, the longest ${format(Math.max(...tasks))} ms`
    return `${longest}, busy ${format(share * 100)} %`
  }
}

/** A page that takes longer is not what is waited for. */
const mostOpeningMs = 120_000

/** Milliseconds from the navigation until an expression holds, in a browser that knows nothing of the page. */
async function opening(shown: Browser, url: string, expression: string): Promise<{ page: Page; ms: number }> {
  const context = await shown.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(url, { waitUntil: 'commit' })
  const ms = await page.evaluate<number | null>(`new Promise((resolve) => {
    const look = () => {
      if (${expression}) requestAnimationFrame(() => resolve(performance.now()))
      else if (performance.now() > ${mostOpeningMs}) resolve(null)
      else setTimeout(look, 5)
    }
    look()
  })`)
  if (ms === null) throw new Error(`${url}: ${mostOpeningMs} ms in vain for ${expression}`)
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
  // Its requests are kept, so that there is a long one to look at; of the others they would be most of what is read.
  const asked = defineAgent({
    name: 'asked',
    model,
    tools: [look],
    compaction: false,
    limits,
    captureTurnRequests: true,
  })
  const { runtime, origin } = await serve('session', [looker, asked])
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
  await (await runtime.spawn(asked, { id: 'asked' })).prompt('Look at everything.').result
  for (const [view, list, id] of [
    ['conversation', '.conversation-scroll', 'long'],
    ['timeline', '.bars', 'long'],
    ['timeline&as=log', '.events', 'long'],
    ['requests', '.request-scroll', 'asked'],
  ] as const) {
    const url = `${origin}#agent=${id}&view=${view}`
    const { page } = await opening(browser, url, `document.querySelector('${list}')?.scrollHeight > 2_000`)
    const stop = await working(page)
    const { rate: frames, longest } = await scrolling(page, list)
    console.log(`list ${view}: ${format(frames)} frames/s (longest ${format(longest)} ms), ${await stop()}`)
    await page.context().close()
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
  const isShown = `document.querySelector('#overview [role="row"]') !== null && document.querySelector('#agents .virtual-row') !== null`
  const { page, ms } = await opening(browser, origin, isShown)
  const paint = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`,
  )
  console.log(
    `${format(agents)} agents: first contentful paint after ${format(paint)} ms, listed after ${format(ms)} ms`,
  )
  for (const list of ['#overview', '#agents']) {
    const stop = await working(page)
    const { rate: frames, longest } = await scrolling(page, list)
    console.log(`list ${list}: ${format(frames)} frames/s (longest ${format(longest)} ms), ${await stop()}`)
  }
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
      const stop = await working(page)
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
          `${view}: ${format(lag, 0)} ms behind at the end, ${format(((await frames) * 1_000) / took)} frames/s, ${await stop()}`,
      )
      await page.context().close()
    }
  await runtime.close()
}

try {
  const parts = { weight, session, agents: hierarchy, events }
  for (const [name, run] of Object.entries(parts)) if (values.only === undefined || values.only === name) await run()
} finally {
  await browser.close()
  await rm(folder, { recursive: true })
}
