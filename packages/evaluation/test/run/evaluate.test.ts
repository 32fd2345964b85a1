import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import {
  createRuntime,
  defineAgent,
  defineTool,
  fileStore,
  policyModel,
  type Model,
  type ModelRequest,
} from '../../../../src/index.ts'
import { evaluate, scriptedModel, type EvaluateOptions, type Task, type TrialGiven } from '../../../../src/testing.ts'
import type { TrialResult } from '../../src/results.ts'
import { projectFolder } from '../../../cli/test/cliChild.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const lastSaid = ({ messages }: ModelRequest): string =>
  JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content)

/** Answers with what it was told last. */
const echo = policyModel((request) => `I was told ${lastSaid(request)}`, { id: 'embedded:echo' })
const agent = defineAgent({ name: 'echo', model: echo, pricing: { input: 100, output: 100 } })
const cases: readonly Task[] = [
  { id: 'one', prompts: ['one'], check: { answer: 'one' } },
  {
    id: 'two',
    prompts: ['first', 'two'],
    check: [{ answer: 'two' }, { answer: { matches: '^I was' }, required: false, weight: 2 }],
  },
]

const outcomes = (results: readonly TrialResult[]) =>
  Object.fromEntries(results.map(({ key, outcome }) => [key, outcome]))

describe('evaluate', (it) => {
  it('tries each case in each arm so many times, and reports it', async () => {
    const { report, results, header } = await evaluate(agent, cases, {}, { arms: ['as-defined', 'stall'], trials: 2 })
    assert.is(results.length, 8)
    assert.ok(results.every(({ outcome, stopReason }) => outcome === 'passed' && stopReason === 'stop'))
    assert.equal(header.arms, [
      { name: 'as-defined', model: 'embedded:echo', isPriced: true },
      { name: 'stall', model: 'embedded:echo', isPriced: true },
    ])
    assert.is(report.arms[0]!.passAt1.value, 1)
    const two = results.find(({ task }) => task === 'two')!
    assert.is(two.answer, 'I was told [{"type":"text","text":"two"}]')
    assert.equal(two.models, ['embedded:echo'])
    assert.is(two.metrics!.turns, 2)
    assert.ok(two.metrics!.costUsd! > 0)
    assert.equal(
      two.scores.map(({ name, passed, required, weight }) => [name, passed, required, weight]),
      [
        ['answer', true, true, 1],
        ['answer', true, false, 2],
      ],
    )
  })

  it('asks scorers of every case, unless a case names them itself, with its options', async () => {
    const seen: string[] = []
    const { results } = await evaluate(
      agent,
      [cases[0]!, { id: 'two', prompts: ['two'], check: { scorer: 'atLeast', count: 3 } }],
      {
        atLeast: ({ task, options }) => {
          seen.push(`${task} ${JSON.stringify(options)}`)
          return { value: 0.25, passed: true, reason: 'a little' }
        },
        metrics: ({ metrics, records, result }) =>
          metrics?.turns === 1 && records.size === 1 && result?.stopReason === 'stop' ? 1 : 0,
      },
    )
    assert.equal(outcomes(results), { 'one/as-defined/0': 'passed', 'two/as-defined/0': 'passed' })
    const two = results.find(({ task }) => task === 'two')!
    assert.equal(
      two.scores.map(({ name, value, reason }) => [name, value, reason]),
      [
        ['atLeast', 0.25, 'a little'],
        ['metrics', 1, undefined],
      ],
    )
    // Once before the agent, to see what passes without work.
    assert.is(seen.filter((line) => line === 'two {"scorer":"atLeast","count":3}').length, 2)
    assert.is(seen.filter((line) => line === 'one {"scorer":"atLeast"}').length, 2)
  })

  it('counts a scorer that throws, or gives nonsense, as failed with the reason, and goes on', async () => {
    const { results } = await evaluate(agent, [{ id: 'one', prompts: ['x'] }], {
      throws: () => {
        throw new Error('no luck')
      },
      nonsense: () => 7,
      nothing: (() => undefined) as never,
      fine: () => true,
    })
    assert.equal(
      results[0]!.scores.map(({ name, passed, reason = '' }) => [name, passed, reason.slice(0, 24)]),
      [
        ['throws', false, 'no luck'],
        ['nonsense', false, 'a scorer gives true, fal'],
        ['nothing', false, 'a scorer gives true, fal'],
        ['fine', true, ''],
      ],
    )
  })

  it('checks answers and files against JSON schemas', async () => {
    const json = { type: 'object', required: ['ok'], properties: { ok: { const: true } } }
    const says = (text: string): Model => policyModel(() => text)
    const check: Task['check'] = [
      { json },
      { json, file: 'out/result.json' },
      { file: 'a.txt', matches: '^b' },
      { file: 'none.txt' },
    ]
    const task: Task = {
      id: 'json',
      prompts: ['x'],
      check,
      files: { 'out/result.json': '{"ok":false}', 'a.txt': 'abc' },
    }
    const of = async (text: string) =>
      (await evaluate(defineAgent({ name: 'a', model: says(text) }), [task], {})).results[0]!.scores
    const [answer, file, text, none] = await of('```json\n{ "ok": true }\n```')
    assert.equal([answer!.passed, file!.passed, text!.passed, none!.passed], [true, false, false, false])
    assert.match(file!.reason!, /^ok: /)
    assert.is(text!.reason, 'it does not match: abc')
    assert.match(none!.reason!, /none\.txt" does not exist/)
    assert.match((await of('no JSON'))[0]!.reason!, /^it is not JSON: /)
  })

  it('gives functions the folder, tools for it and a seed that is the same for all arms', async () => {
    const given: TrialGiven[] = []
    const writer = ({ model, tools, ...place }: TrialGiven) => {
      given.push({ model, tools, ...place })
      return defineAgent({ name: 'writer', model, tools })
    }
    const model = policyModel((_, { turnIndex }) =>
      turnIndex === 0
        ? { toolCalls: [{ name: 'write_file', input: { path: 'note.txt', content: 'written' } }] }
        : 'Done.',
    )
    const { results } = await evaluate(
      writer,
      [
        {
          id: 'write',
          prompts: ['Write.'],
          check: [{ file: 'note.txt', equals: 'written' }, 'test -f given.txt'],
          files: { 'given.txt': '' },
        },
      ],
      {},
      { arms: ['off', 'stall'], trials: 2, model },
    )
    assert.ok(results.every(({ outcome }) => outcome === 'passed'))
    const [, , ...trials] = given
    const seeds = new Map<number, Set<number>>()
    for (const { trial, seed } of trials) seeds.set(trial, (seeds.get(trial) ?? new Set()).add(seed))
    assert.equal(
      [...seeds.values()].map(({ size }) => size),
      [1, 1],
    )
    assert.is(new Set(trials.map(({ dir }) => dir)).size, 4)
    // The agent may see the name of its folder.
    assert.ok(trials.every(({ dir }) => !/off|stall/.test(dir.slice(dir.indexOf('workspaces')))))
  })

  it('marks a case that passes without work', async () => {
    const { header, report } = await evaluate(
      agent,
      [
        { id: 'free', prompts: ['x'], check: { file: 'there.txt' }, files: { 'there.txt': '' } },
        { id: 'earned', prompts: ['x'], check: { answer: 'x' } },
      ],
      {},
    )
    assert.equal(header.tasks, [
      { id: 'free', tags: [], passesWithoutWork: true },
      { id: 'earned', tags: [] },
    ])
    assert.ok(report.warnings.some(({ code }) => code === 'PASSES_WITHOUT_WORK'))
  })

  it('lets nothing wait for people: calls are approved, and whoever else is asked does not answer', async () => {
    const held = defineTool({
      name: 'held',
      description: 'Needs approval.',
      input: z.object({}),
      needsApproval: true,
      run: () => 'done',
    })
    const asks = defineTool({
      name: 'asks',
      description: 'Asks a person.',
      input: z.object({}),
      run: async (_, { ask }) => String(await ask(z.boolean(), 'Really?')),
    })
    const client = defineTool({ name: 'client', description: 'For a client.', input: z.object({}) })
    const model = policyModel((request, { turnIndex }) =>
      turnIndex === 0
        ? { toolCalls: ['held', 'asks', 'client'].map((name) => ({ name, input: {} })) }
        : JSON.stringify(request.messages.slice(-3)),
    )
    const waiting = defineAgent({ name: 'waiting', model, tools: [held, asks, client] })
    const { results } = await evaluate(waiting, [{ id: 'one', prompts: ['x'], check: { answer: 'done' } }], {})
    assert.is(results[0]!.outcome, 'passed')
    assert.match(results[0]!.answer, /Nobody can be asked[\s\S]*No client carries this out/)
  })

  it('holds a case to its limits over all its prompts, and judges what is there then', async () => {
    const prompts = ['a', 'b', 'c', 'd']
    const { results } = await evaluate(
      agent,
      [{ id: 'one', prompts, check: { answer: 'b' }, limits: { turns: 2 } }],
      {},
    )
    assert.equal([results[0]!.outcome, results[0]!.metrics!.turns], ['passed', 2])
  })

  it('leaves nothing behind without a folder, and everything in one', async (context) => {
    const out = join(projectFolder(context), 'results')
    await evaluate(agent, cases, {}, { out })
    assert.equal(
      readdirSync(out).toSorted(),
      [
        'recordings',
        'report',
        'report.json',
        'report.junit.xml',
        'report.md',
        'results.jsonl',
        'sessions',
        'workspaces',
      ].filter((name) => existsSync(join(out, name))),
    )
    assert.equal(readdirSync(join(out, 'workspaces')), [])
    assert.is(readFileSync(join(out, 'results.jsonl'), 'utf8').trimEnd().split('\n').length, 3)
    const runtime = await createRuntime({ store: fileStore(join(out, 'sessions')) })
    context.cleanup(() => runtime.close())
    assert.equal(
      await runtime.open('one.as-defined.0', agent).catch((thrown: unknown) => (thrown as { code: string }).code),
      'AGENT_STOPPED',
    )
  })

  it('keeps secrets of its own out of what is kept, answers and reasons of scorers too', async (context) => {
    const out = join(projectFolder(context), 'results')
    const [secret, redact] = ['hunter-two', { secrets: { KEY: 'hunter-two' } }]
    const said = [{ id: 'one', prompts: [`My key is ${secret}.`] }]
    const scorers = { quotes: () => ({ value: 1, reason: `It said ${secret}.` }) }
    const { results } = await evaluate(agent, said, scorers, { out, redact })
    assert.match(results[0]!.answer, /My key is \[redacted:KEY\]/)
    assert.is(results[0]!.scores[0]!.reason, 'It said [redacted:KEY].')
    const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
    for (const { parentPath, name } of files)
      assert.not.ok(readFileSync(join(parentPath, name), 'utf8').includes(secret), name)
  })

  it('says what is wrong with its options before anything runs', async () => {
    const asked = scriptedModel([])
    const of = (given: EvaluateOptions, tasks: readonly Task[] = cases) =>
      evaluate(defineAgent({ name: 'a', model: asked }), tasks, {}, given)
    await assert.rejects(of({ trials: 0 }), /evaluate: trials: /)
    await assert.rejects(of({ redact: { secrets: { KEY: 'short' } } }), /a secret needs at least 6 characters/)
    await assert.rejects(of({ arms: [] }), /arms is empty/)
    await assert.rejects(of({ arms: {} }), /arms is empty/)
    await assert.rejects(of({ arms: ['hasard'] }), /there is no "hasard"/)
    await assert.rejects(
      of({ budgetUsd: 1 }),
      /A budget needs prices, and those of embedded:scripted, of the arm "as-defined", are not known/,
    )
    await assert.rejects(of({}, [...cases, cases[0]!]), /two cases have the id "one"/)
    await assert.rejects(of({}, []), /give at least one case/)
    await assert.rejects(of({}, [{ id: 'one', prompts: ['x'] }]), /nothing judges case "one"/)
    await assert.rejects(
      of({}, [{ id: 'one', prompts: ['x'], check: { scorer: 'none' } }]),
      /names a scorer "none" that there is not/,
    )
    await assert.rejects(
      of({}, [{ id: 'one', prompts: ['x'], check: { judge: 'Kind.' } }]),
      /The task "one" asks a judge, and none is named/,
    )
    await assert.rejects(
      evaluate(() => ({}) as never, cases, {}, { model: asked }),
      /The agent of "one" is not what defineAgent returns/,
    )
    await assert.rejects(
      evaluate(() => agent, cases, {}),
      /The arm "as-defined" has no model/,
    )
    assert.is(asked.requests.length, 0)
  })
})
