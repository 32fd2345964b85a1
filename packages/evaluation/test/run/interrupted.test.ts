import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineAgent, policyModel, type Model } from '../../../../src/index.ts'
import { evaluate, type EvaluateOptions, type Task } from '../../../../src/testing.ts'
import { readResults } from '../../src/folder/resultsFile.ts'
import { projectFolder } from '../../../cli/test/cliChild.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

const cases: readonly Task[] = ['a', 'b', 'c', 'd'].map((id) => ({ id, prompts: [id], check: { answer: 'yes' } }))
const pricing = { input: 0, output: 1_000_000 }

/** A model that notes what it is asked, and an agent with it. */
function counted(answer: (count: number) => string | Promise<string> = () => 'yes', id = 'embedded:counted') {
  const state = { asked: 0 }
  const model = policyModel(
    async () => {
      state.asked += 1
      return { text: await answer(state.asked), usage: { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 } }
    },
    { id },
  )
  return { state, agent: defineAgent({ name: 'counted', model, pricing, retry: { attempts: 1 } }) }
}

const refusing = (from: number): Model => {
  let asked = 0
  const yes = policyModel(() => 'yes', { id: 'live:model' })
  return {
    id: 'live:model',
    async *stream(request, options) {
      asked += 1
      if (asked >= from) yield { type: 'error', error: { kind: 'auth', message: 'invalid x-api-key' } }
      else yield* yes.stream(request, options)
    },
  }
}

const folderOf = (context: CaseContext): string => join(projectFolder(context), 'results')
const linesOf = (out: string): string[] => readFileSync(join(out, 'results.jsonl'), 'utf8').trimEnd().split('\n')

describe('an evaluation that is interrupted', (it) => {
  it('keeps what was finished when it is aborted, and goes on with the rest alone', async (context) => {
    const out = folderOf(context)
    const stop = new AbortController()
    const first = counted((count) => {
      if (count === 3) stop.abort()
      return 'yes'
    })
    const options: EvaluateOptions = { out, concurrency: 1, trials: 2 }
    const { results, stopped, report } = await evaluate(first.agent, cases, {}, { ...options, signal: stop.signal })
    assert.equal([results.length, stopped?.why, report.progress.missing], [2, 'aborted', 6])
    const again = counted()
    const whole = await evaluate(again.agent, cases, {}, options)
    assert.equal([whole.results.length, whole.stopped, again.state.asked], [8, undefined, 6])
    const third = counted()
    assert.is((await evaluate(third.agent, cases, {}, options)).results.length, 8)
    assert.is(third.state.asked, 0)
  })

  it('leaves nothing that says it had begun when it is aborted before its first trial', async (context) => {
    const out = folderOf(context)
    const stop = new AbortController()
    const { agent } = counted()
    const judging = (isStopped: boolean) => ({
      stops: () => {
        if (isStopped) stop.abort()
        return true
      },
    })
    const first = await evaluate(agent, cases, judging(true), { out, signal: stop.signal })
    assert.equal([first.stopped?.why, first.report.progress.missing], ['aborted', 4])
    assert.equal(readdirSync(out).toSorted(), ['results.jsonl', 'workspaces'])
    await assert.rejects(readResults(out), /holds no evaluation: results\.jsonl in it is empty/)
    const second = await evaluate(agent, cases, judging(false), { out })
    assert.equal([second.results.length, second.stopped], [4, undefined])
  })

  it('ends when a key is refused at some trial, keeps those before, and tries that one again', async (context) => {
    const out = folderOf(context)
    const refused = defineAgent({ name: 'a', model: refusing(4) })
    const { results, stopped } = await evaluate(refused, cases, {}, { out, concurrency: 1, trials: 10 })
    assert.equal(
      results.map(({ outcome }) => outcome),
      ['passed', 'passed', 'passed', 'error'],
    )
    assert.is(stopped?.why, 'auth')
    assert.match(stopped!.message!, /invalid x-api-key/)
    const again = await evaluate(
      defineAgent({ name: 'a', model: refusing(Infinity) }),
      cases,
      {},
      { out, concurrency: 4, trials: 10 },
    )
    assert.equal([again.results.length, again.stopped], [40, undefined])
    assert.ok(again.results.every(({ outcome }) => outcome === 'passed'))
  })

  it('ends when its budget is spent, what runs included, and goes on with a larger one', async (context) => {
    const out = folderOf(context)
    const { agent, state } = counted()
    const { stopped, spentUsd, results } = await evaluate(agent, cases, {}, { out, concurrency: 1, budgetUsd: 2.5 })
    assert.is(stopped?.why, 'budget')
    assert.equal([spentUsd, results.length, state.asked], [3, 2, 3])
    const none = counted()
    assert.is((await evaluate(none.agent, cases, {}, { out, budgetUsd: 2.5 })).stopped?.why, 'budget')
    assert.is(none.state.asked, 0)
    const unsaid = counted()
    assert.is((await evaluate(unsaid.agent, cases, {}, { out })).stopped?.why, 'budget')
    assert.is(unsaid.state.asked, 0)
    const more = await evaluate(counted().agent, cases, {}, { out, budgetUsd: 10 })
    // The third trial was paid for twice: it was aborted when the budget was reached.
    assert.equal([more.stopped, more.results.length, more.spentUsd], [undefined, 4, 5])
    assert.is(linesOf(out).filter((line) => line.includes('"type":"lost"')).length, 1)
  })

  it('counts what it spent on a trial that had been an error before, each time that it is interrupted', async (context) => {
    const out = folderOf(context)
    const two: readonly Task[] = [{ id: 'two', prompts: ['first', 'second'], check: { answer: 'yes' } }]
    const failing = counted((count) => {
      if (count === 2) throw new Error('the provider is down')
      return 'yes'
    })
    const [failed] = (await evaluate(failing.agent, two, {}, { out })).results
    assert.equal([failed!.outcome, failed!.metrics!.costUsd], ['error', 1])
    for (const spent of [2, 3]) {
      const stop = new AbortController()
      const stopping = counted((count) => {
        if (count === 2) stop.abort()
        return 'yes'
      })
      const { stopped, spentUsd } = await evaluate(stopping.agent, two, {}, { out, signal: stop.signal })
      assert.equal([stopped?.why, spentUsd], ['aborted', spent])
    }
    const none = counted()
    const { stopped, spentUsd, report } = await evaluate(none.agent, two, {}, { out, budgetUsd: 3 })
    assert.equal([stopped?.why, spentUsd, none.state.asked, report.budgetUsd], ['budget', 3, 0, 3])
    const more = await evaluate(counted().agent, two, {}, { out, budgetUsd: 10 })
    assert.equal([more.stopped, more.results[0]!.outcome, more.spentUsd], [undefined, 'passed', 5])
    assert.equal([more.report.budgetUsd, (await readResults(out)).header.budgetUsd], [10, 10])
    const kept = await evaluate(counted().agent, two, {}, { out })
    assert.equal([kept.report.budgetUsd, (await readResults(out)).header.budgetUsd], [10, 10])
  })

  it('cuts off a last line that was not finished, and makes that trial again', async (context) => {
    const out = folderOf(context)
    await evaluate(counted().agent, cases, {}, { out })
    const text = readFileSync(join(out, 'results.jsonl'), 'utf8')
    writeFileSync(join(out, 'results.jsonl'), text.slice(0, -20))
    const { agent, state } = counted()
    const { results } = await evaluate(agent, cases, {}, { out })
    assert.equal([results.length, state.asked], [4, 1])
    assert.ok(linesOf(out).every((line) => typeof JSON.parse(line) === 'object'))
  })

  it('says which line of its results is wrong, and changes nothing', async (context) => {
    const out = folderOf(context)
    await evaluate(counted().agent, cases, {}, { out })
    const text = readFileSync(join(out, 'results.jsonl'), 'utf8')
    const [first, second, ...rest] = text.split('\n')
    const damaged = [first, second!.slice(0, 40), ...rest].join('\n')
    writeFileSync(join(out, 'results.jsonl'), damaged)
    await assert.rejects(evaluate(counted().agent, cases, {}, { out }), /Line 2 of .*results\.jsonl is wrong/)
    assert.is(readFileSync(join(out, 'results.jsonl'), 'utf8'), damaged)
    appendFileSync(join(out, 'results.jsonl'), '')
  })

  it('refuses to go on with something else, and says what has changed', async (context) => {
    const out = folderOf(context)
    const { agent } = counted()
    await evaluate(agent, cases, {}, { out, arms: ['as-defined', 'off'] })
    const of = (given: EvaluateOptions, tasks = cases, other = agent) =>
      evaluate(other, tasks, {}, { out, arms: ['as-defined', 'off'], ...given })
    await assert.rejects(
      of({ arms: ['off'] }),
      /has another evaluation: the list of arms was as-defined, off and is off\. Go on as it began, or evaluate in another folder/,
    )
    await assert.rejects(of({ trials: 2, seed: 3 }), /the number of trials was 1 and is 2; the seed was 1 and is 3/)
    await assert.rejects(of({}, cases.slice(1)), /the files of the suite cases have changed/)
    await assert.rejects(
      of({}, cases, counted(undefined, 'embedded:other').agent),
      /the model of the arm as-defined was embedded:counted and is embedded:other/,
    )
    assert.is((await of({})).results.length, 8)
  })

  it('is held by one process: a second one is told who has it', async (context) => {
    const out = folderOf(context)
    const begun = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const { agent } = counted(async () => {
      begun.resolve()
      await go.promise
      return 'yes'
    })
    const first = evaluate(agent, cases, {}, { out })
    await begun.promise
    await assert.rejects(evaluate(counted().agent, cases, {}, { out }), /lock is held by process \d+ \(this one\)/)
    go.resolve()
    assert.is((await first).results.length, 4)
  })

  it('counts what is not the agent’s doing apart', async () => {
    const failing: Model = {
      id: 'live:model',
      async *stream() {
        yield { type: 'error', error: { kind: 'network', message: 'connection reset' } }
      },
    }
    const { results, report, stopped } = await evaluate(
      defineAgent({ name: 'a', model: failing, retry: { attempts: 1 } }),
      [cases[0]!, { id: 'bad', prompts: ['x'], setup: 'echo no such thing; exit 3', check: 'true' }],
      {},
    )
    assert.is(stopped, undefined)
    assert.equal(
      results.map(({ outcome, error }) => [outcome, error?.code]),
      [
        ['error', 'MODEL_NETWORK'],
        ['error', 'EVALUATION_SETUP'],
      ],
    )
    assert.match(
      results[1]!.error!.message,
      /"echo no such thing; exit 3" ended with 3: no such thing\. Correct the task or its folder/,
    )
    assert.equal([report.progress.errors, report.arms[0]!.passAt1.value], [2, null])
  })

  it('notes every model that answered under one name', async () => {
    const models = ['m-2026-01', 'm-2026-06']
    let asked = 0
    const moving: Model = {
      id: 'live:m',
      async *stream() {
        const responseModel = models[asked++ % 2]!
        const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
        yield {
          type: 'done',
          reply: { content: [{ type: 'text', text: 'yes' }], stopReason: 'stop', usage, responseModel },
        }
      },
    }
    const { results, report } = await evaluate(defineAgent({ name: 'a', model: moving }), cases, {})
    assert.equal(new Set(results.flatMap((result) => result.models)), new Set(['live:m-2026-01', 'live:m-2026-06']))
    const warning = report.warnings.find(({ code }) => code === 'ALIAS_MOVED')
    assert.match(warning!.text, /live:m-2026-01, live:m-2026-06/)
  })
})
