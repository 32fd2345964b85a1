import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { cutNotes } from '../../src/offline/cutNotes.ts'
import { FileLogs } from '../../src/offline/fileLogs.ts'
import { unpackSession } from '../../src/offline/unpackSession.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { forkSession } from '../../../sessions/src/forkSession.ts'
import { loadSession } from '../../../sessions/src/loadSession.ts'
import { packSession, type PackLimits } from '../../src/sessionPages/packSession.ts'
import { folderPage, singlePage } from '../../src/sessionPages/pageHtml.ts'
import { readPageAssets } from '../../src/sessionPages/pageAssets.ts'
import { inScript, pagesVersion, type PackedSession, type PageIndex } from '../../src/sessionPages/sessionFile.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { brakedAgents } from '../inspector/brakedAgents.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const hostile = '</script><script>alert(1)</script><!-- \u2028\u2029 "\\'

const keeper = defineAgent({
  name: 'keeper',
  tools: [
    defineTool({
      name: 'dump',
      description: 'Gives much.',
      input: z.object({}),
      run: () => Array.from({ length: 3_000 }, (_, line) => `line ${line} ${hostile}`).join('\n'),
    }),
  ],
  artifacts: { overChars: 2_000 },
  model: policyModel(({ messages }) =>
    messages.length === 1 ? { toolCalls: [{ name: 'dump', input: {} }] } : hostile,
  ),
})

/** A tree with brakes, one that keeps a result whole, and a fork of it. */
async function someSessions(): Promise<Store> {
  const kept = memoryStore()
  const store: Store = { ...kept, close: async () => {} }
  const runtime = await createRuntime({ store })
  const client = await runtime.connect({ definitions: brakedAgents })
  const boss = await client.spawn('boss', { id: 'boss-1' })
  boss.subscribe((event) => {
    if (event.type === 'approval.requested') void client.agent(event.agentId).decide(event.key, 'approve')
  })
  await boss.prompt(`Go. ${hostile}`).result
  const agent = await runtime.spawn(keeper, { id: 'keeper-1' })
  await agent.prompt(hostile).result
  await agent.prompt('And again.').result
  await runtime.close()
  await forkSession(store, 'keeper-1', 'n1', { id: 'fork-1' })
  return store
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const logOf = async (store: Pick<Store, 'read'>, agentId: string): Promise<LogRecord[]> =>
  await allOf(store.read(agentId))

/** The store that a page has of what was packed. */
async function pageStore(store: Store, roots: readonly string[], limits: PackLimits = {}): Promise<FileLogs> {
  const made = await Promise.all(roots.map((root) => packSession(store, root, limits)))
  const index: PageIndex = {
    version: pagesVersion,
    files: made.map(({ entry }) => ({ ...entry, file: `${entry.root}.js` })),
  }
  const packed = new Map(made.map(({ packed: one }) => [one.root, one]))
  return new FileLogs(index, { load: async ({ root }) => packed.get(root), onTrouble: () => {} })
}

describe('sessions for a page', (it) => {
  it('are there record for record, with sub-agents, and lists know them', async () => {
    const store = await someSessions()
    const page = await pageStore(store, ['boss-1', 'keeper-1'])
    const ids = ['boss-1', 'boss-1.1', 'boss-1.2', 'keeper-1']
    assert.equal(await page.list(), ids)
    for (const id of ids) {
      assert.equal(await logOf(page, id), await logOf(store, id))
      assert.equal(await page.stat(id), await store.stat!(id))
    }
    assert.equal(await page.page({ total: true }), await store.page!({ ids, total: true }))
    assert.equal(await allOf(page.read('boss-1', 3, 2)), (await logOf(store, 'boss-1')).slice(2, 4))
    assert.equal(await logOf(page, 'nobody'), [])
  })

  it('have the past that a fork shares, up to where it was forked', async () => {
    const store = await someSessions()
    const page = await pageStore(store, ['fork-1'])
    assert.equal(
      (await loadSession(page, 'fork-1')).conversation.log(),
      (await loadSession(store, 'fork-1')).conversation.log(),
    )
    const past = await logOf(page, 'keeper-1')
    const whole = await logOf(store, 'keeper-1')
    assert.ok(past.length > 0 && past.length < whole.length)
    // Beside the session itself, all of it is there.
    assert.equal(await logOf(await pageStore(store, ['fork-1', 'keeper-1']), 'keeper-1'), whole)
  })

  it('have what results keep, as far as there is room', async () => {
    const store = await someSessions()
    const named = (await logOf(store, 'keeper-1')).flatMap((record) =>
      record.type === 'tool.end' ? (record.message.artifacts ?? []) : [],
    )
    assert.is(named.length, 1)
    const { id } = named[0]!
    const bytes = await store.snapshots!.get('keeper-1', id)
    assert.equal([...(await (await pageStore(store, ['keeper-1'])).snapshots.get('keeper-1', id))!], [...bytes!])
    const { entry } = await packSession(store, 'keeper-1', { keptBytes: 100 })
    assert.is(entry.leftOut, 1)
    assert.equal(cutNotes(entry), ['1 artifact of this session is too large for a page.'])
  })

  it('are cut off where there is no more room, and say so', async () => {
    const store = await someSessions()
    const begin = (await logOf(store, 'boss-1')).slice(0, 6)
    const lines = begin.map((record) => `${JSON.stringify({ agentId: 'boss-1', record })}\n`)
    const limits = { recordBytes: Buffer.byteLength(lines.join('')) }
    const { entry } = await packSession(store, 'boss-1', limits)
    const kept = entry.logs.find(({ id }) => id === 'boss-1')?.size ?? 0
    const whole = await logOf(store, 'boss-1')
    assert.is(kept, 6)
    const children = await Promise.all(['boss-1.1', 'boss-1.2'].map((id) => logOf(store, id)))
    assert.equal(entry.cut?.map(({ agentId, all }) => [agentId, all]).toSorted(), [
      ['boss-1', whole.length],
      ['boss-1.1', children[0]!.length],
      ['boss-1.2', children[1]!.length],
    ])
    assert.equal(await logOf(await pageStore(store, ['boss-1'], limits), 'boss-1'), whole.slice(0, kept))
    const [note] = cutNotes(entry)
    assert.match(note!, `the first ${kept} of ${whole.length} records of boss-1`)
    assert.match(note!, /none of the \d+ records of boss-1\.1/)
  })

  it('end where the room ends: no later record that would have found room comes after a gap', async () => {
    const store = await someSessions()
    const whole = await logOf(store, 'boss-1')
    const sizes = whole.map((record) => Buffer.byteLength(`${JSON.stringify({ agentId: 'boss-1', record })}\n`))
    // The largest record but the first has no room, and the next one would.
    const largest = sizes.indexOf(Math.max(...sizes.slice(1, -1)), 1)
    const before = sizes.slice(0, largest).reduce((sum, size) => sum + size, 0)
    const limits = { recordBytes: before + sizes[largest]! - 1 }
    assert.ok(sizes[largest + 1]! < sizes[largest]!)
    assert.equal(await logOf(await pageStore(store, ['boss-1'], limits), 'boss-1'), whole.slice(0, largest))
  })

  it('keep to what they were asked for: an agent without a log is refused', async () => {
    const store = await someSessions()
    const thrown = (await assert.rejects(packSession(store, 'nobody'))) as { readonly code: string }
    assert.is(thrown.code, 'AGENT_NOT_FOUND')
  })
})

describe('the file of a session', (it) => {
  const codeOf = async (given: unknown): Promise<string> => {
    const thrown = (await assert.rejects(unpackSession('sessions/a.js', given))) as {
      readonly code: string
      readonly message: string
    }
    assert.match(thrown.message, /^sessions\/a\.js /)
    return thrown.code
  }

  it('is refused, by its name, when it is damaged', async () => {
    const { packed } = await packSession(await someSessions(), 'boss-1')
    const { data } = packed
    const half = data.slice(0, 400)
    const other = `${data.slice(0, 300)}${data[300] === 'A' ? 'B' : 'A'}${data.slice(301)}`
    const damages = [
      undefined,
      'nothing',
      {},
      { ...packed, data: 'not base64!' },
      { ...packed, data: half },
      { ...packed, data: other },
    ]
    for (const given of damages) assert.is(await codeOf(given), 'LOG_CORRUPT', JSON.stringify(given)?.slice(0, 60))
  })

  it('is refused when a newer version wrote it, or a record of it', async () => {
    const { packed } = await packSession(await someSessions(), 'boss-1')
    assert.is(await codeOf({ ...packed, version: pagesVersion + 1 }), 'LOG_VERSION')
    const { deflateRawSync } = await import('node:zlib')
    const line = JSON.stringify({ agentId: 'a', record: { v: 99, seq: 1 } })
    const newer: PackedSession = { ...packed, data: deflateRawSync(`${line}\n`).toString('base64') }
    assert.is(await codeOf(newer), 'LOG_VERSION')
    const gap = JSON.stringify({ agentId: 'boss-1', record: (await logOf(await someSessions(), 'boss-1'))[1] })
    assert.is(await codeOf({ ...packed, data: deflateRawSync(gap).toString('base64') }), 'LOG_CORRUPT')
  })

  it('tells who listens what is wrong, and is loaded again when it is asked for again', async () => {
    const { entry, packed } = await packSession(await someSessions(), 'boss-1')
    const file = { ...entry, file: 'boss-1.js' }
    const troubles: string[] = []
    const given: unknown[] = []
    const page = new FileLogs(
      { version: pagesVersion, files: [file] },
      { load: async () => given[0], onTrouble: (_, what) => troubles.push(what) },
    )
    await assert.rejects(logOf(page, 'boss-1.1'), /damaged/)
    assert.equal(troubles, [
      'sessions/boss-1.js is damaged, or not a file of this page. Take it from a copy, or write the page again.',
    ])
    given.push(packed)
    assert.ok((await logOf(page, 'boss-1.1')).length > 0)
    await assert.rejects(page.append(), /nothing can be written/)
    await assert.rejects(page.open(), /nothing can be written/)
  })
})

describe('the page around sessions', (it) => {
  it('lets nothing that was said end its scripts', () => {
    const text = inScript({ said: hostile })
    assert.not.match(text, /<|\u2028|\u2029/)
    assert.equal(JSON.parse(text), { said: hostile })
    const assets = { script: `const x = "</script><!--"`, style: 'a { content: "</style>" }', icon: '<svg/>' }
    const index = { version: 1, files: [{ root: hostile, file: '', logs: [] }] }
    const html = singlePage(assets, index, [{ version: 1, root: hostile, data: hostile }])
    assert.is(html.match(/<script/g)?.length, 3)
    assert.is(html.match(/<\/script/g)?.length, 3)
    assert.is(html.match(/<\/style/g)?.length, 1)
    assert.not.match(html, '<!--')
    assert.match(html, `'sha256-`)
  })

  it('allows no script but its own, and no connection', () => {
    const html = folderPage({ icon: '<svg/>' })
    assert.match(html, "default-src 'none'; script-src 'self' file:; style-src 'self' file:;")
    assert.not.match(html, /unsafe|connect-src|https?:\/\/(?!www\.w3\.org)/)
  })

  it('says what to do where it was not built', async () => {
    const nowhere = new URL(`file://${tmpdir()}/escapement-nowhere/`)
    const thrown = (await assert.rejects(readPageAssets(nowhere))) as {
      readonly code: string
      readonly message: string
    }
    assert.is(thrown.code, 'FILE_MISSING')
    assert.match(thrown.message, 'npm run build:page')
    const empty = await mkdtemp(join(tmpdir(), 'escapement-pages-'))
    assert.equal(await readdir(empty), [])
    await rm(empty, { recursive: true })
    assert.match(await readFile(new URL('../../src/inspector/public/icon.svg', import.meta.url), 'utf8'), '<svg')
  })
})
