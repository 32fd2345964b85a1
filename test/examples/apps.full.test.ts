import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createElement } from 'react'
import { act, create, type ReactTestRenderer } from 'react-test-renderer'
import { triage, type Shop } from '../../examples/apps/triage/triage.ts'
import { Chat } from '../../examples/apps/web/chat.ts'
import { startServer } from '../../examples/apps/web/server.ts'
import { connect, conversationStore } from '../../src/client.ts'
import { memoryStore, policyModel } from '../../src/index.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { cliCommand, startChild } from '../../packages/cli/test/cliChild.ts'
import { quiet } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

const folder = join(import.meta.dirname, '..', '..', 'examples', 'apps')

/** Output of each application, and the most lines of code it may have without its `main.ts`: as the best of others, see its README. */
const apps: Readonly<Record<string, { readonly prints: readonly string[]; readonly lines: number }>> = {
  triage: {
    prints: [
      'approved: {"order":"o7","euros":30}',
      'billing true Your 30 euros',
      'refunds: [{"order":"o7","euros":30}]',
    ],
    lines: 75,
  },
  coder: { prints: ['may it? {"command":"node test.js"}', 'sum adds now'], lines: 28 },
  web: {
    prints: ['ann sees 1 of 1 agents:', 'bob sees 1 of 2 agents:', 'It leaves the workshop tomorrow.'],
    lines: 55,
  },
  react: { prints: ['ann: http://127.0.0.1:', 'bob: http://127.0.0.1:', 'staff, zoe: http://127.0.0.1:'], lines: 73 },
  useChat: { prints: ['assistant: {"order":"o7","euros":30} output-available', 'It is on its way to you.'], lines: 61 },
  batch: { prints: ['20 of 20, $', '14 of 20 are right, 2100 EUR, 40 times asked'], lines: 20 },
  release: {
    prints: [
      'may it publish spring? The server is killed',
      'publish has ended: call 6 of the script',
      'the build has reported',
      'clock: published, spring: published, wheel: published',
      'people were asked 2 times',
    ],
    lines: 77,
  },
}

const isCode = (line: string): boolean => !/^\s*(?:\/\/|\/\*|\*|$)/.test(line)

async function countLines(app: string): Promise<number> {
  const names = (await readdir(join(folder, app))).filter((name) => /\.tsx?$/.test(name) && name !== 'main.ts')
  const texts = await Promise.all(names.map((name) => readFile(join(folder, app, name), 'utf8')))
  return texts.flatMap((text) => text.split('\n')).filter(isCode).length
}

const run = (context: CaseContext, app: string, args: readonly string[] = []) =>
  startChild(context, cliCommand(args, join(folder, app, 'main.ts')), { input: '' }).ended

describe('the applications', (it) => {
  for (const [app, { prints, lines }] of Object.entries(apps)) {
    it(`${app} runs without a key`, { timeoutMs: 40_000 }, async (context) => {
      const { code, stdout, stderr } = await run(context, app)
      assert.is(code, 0, stderr)
      for (const text of prints) assert.ok(stdout.includes(text), stdout)
    })

    it(`${app} is as short as it says`, async () => {
      const counted = await countLines(app)
      assert.ok(counted <= lines, `${counted} lines`)
      const row = (await readFile(join(folder, 'README.md'), 'utf8'))
        .split('\n')
        .find((line) => line.includes(`[${app}]`))
      assert.ok(row?.includes(`| ${counted} |`), row)
    })
  }
})

describe('the coding agent', (it) => {
  it('goes on after its process was killed, and does nothing twice', { timeoutMs: 30_000 }, async (context) => {
    const project = await mkdtemp(join(tmpdir(), 'escapement-coder-'))
    context.cleanup(() => rm(project, { recursive: true, force: true }))
    const killed = await run(context, 'coder', [project, 'die'])
    assert.not.ok(killed.stdout.includes('sum adds now'))
    const { code, stdout, stderr } = await run(context, 'coder', [project])
    assert.is(code, 0, stderr)
    assert.ok(stdout.includes('sum adds now'), stdout)
    const log = await readFile(join(project, '.agents', 'fix-sum.jsonl'), 'utf8')
    assert.is(log.split('"type":"tool.start"').length - 1, 2)
    assert.is(await readFile(join(project, 'sum.js'), 'utf8'), 'export const sum = (a, b) => a + b\n')
  })
})

describe('the triage desk', (it) => {
  it('pays nothing back that was not approved', async () => {
    const billed = scriptedModel([
      { toolCalls: [{ name: 'billing', input: { task: 'Pay o7 back.' } }] },
      { toolCalls: [{ name: 'pay_back', input: { order: 'o7', euros: 30 } }] },
      'It was not allowed.',
      '{"category":"billing","urgent":false,"reply":"We cannot pay it back."}',
    ])
    const shop: Shop = { prices: new Map(), refunds: [] }
    const { reply } = await triage('My money!', shop, [billed], async () => false)
    assert.is(reply, 'We cannot pay it back.')
    assert.equal(shop.refunds, [])
  })
})

describe('the batch', (it) => {
  it('goes on after its process was killed, and asks nothing twice', { timeoutMs: 20_000 }, async (context) => {
    const logs = await mkdtemp(join(tmpdir(), 'escapement-batch-'))
    context.cleanup(() => rm(logs, { recursive: true, force: true }))
    const killed = await run(context, 'batch', [logs, 'die'])
    assert.is(killed.stdout.includes('are right'), false)
    const { stdout } = await run(context, 'batch', [logs])
    const [, asked] = /14 of 20 are right, 2100 EUR, (\d+) times asked/.exec(stdout) ?? []
    assert.ok(Number(asked) >= 25 && Number(asked) < 40, stdout)
  })
})

describe('the chat in a page', (it) => {
  it('shows what is said, and says what is written', async (context) => {
    const users: Readonly<Record<string, string>> = { 'the-cookie-of-ann': 'ann' }
    const { runtime, server, conversationOf } = await startServer(
      policyModel(() => 'It leaves tomorrow.'),
      memoryStore(),
      (cookie = '') => users[cookie],
    )
    context.cleanup(() => runtime.close())
    const client = connect(server.url, { token: 'the-cookie-of-ann' })
    context.cleanup(() => client.close())
    const agent = client.agent((await conversationOf('ann')).id)
    const store = conversationStore(agent)
    let tree!: ReactTestRenderer
    await act(async () => {
      tree = create(createElement(Chat, { agent, store }))
    })
    context.cleanup(() => act(async () => tree.unmount()))
    await act(async () => {
      tree.root.findByType('input').props['onChange']({ target: { value: 'When?' } })
    })
    await act(async () => {
      tree.root.findByType('button').props['onClick']()
    })
    while (!JSON.stringify(tree.toJSON()).includes('It leaves tomorrow.')) await act(quiet)
    assert.equal(
      tree.root.findAllByType('p').map(({ props }) => [props['className'], props['children']]),
      [
        ['user', 'When?'],
        ['assistant', 'It leaves tomorrow.'],
      ],
    )
    store.close()
  })
})
