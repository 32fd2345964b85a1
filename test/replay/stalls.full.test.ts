import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replayCommand } from '../../tools/bench/replay/command.ts'
import { prices } from '../../tools/bench/replay/measure/prices.ts'
import { isStep, ReplayError, stepsOf } from '../../tools/bench/replay/recordedSession.ts'
import { watch, type Detection, type Watched } from '../../tools/bench/replay/stalls/detect.ts'
import { makeScenarios } from '../../tools/bench/replay/stalls/generate/makeScenarios.ts'
import { isStalled, sessionOf, type Scenario } from '../../tools/bench/replay/stalls/generate/scenario.ts'
import { climb, settings, withoutLadder } from '../../tools/bench/replay/stalls/ladder.ts'
import { react } from '../../tools/bench/replay/stalls/react.ts'
import { readRuns } from '../../tools/bench/replay/stalls/readers/readRuns.ts'
import { scoreLoops, scoreVerdicts } from '../../tools/bench/replay/stalls/score.ts'
import { assert, describe } from '../support/suite.ts'

const ratios = prices['anthropic']!
const scenarios = makeScenarios(2, 7)
const kindOf = (name: string, run = 0): Scenario => scenarios.filter(({ kind }) => kind === name)[run]!
const watched = async (scenario: Scenario) => (await watch(sessionOf(scenario, scenario.kind))).found['default set']

const found = (...detections: readonly (readonly [at: number, first: number])[]): Watched['found'] => {
  const list = detections.map(([at, first]): Detection => ({ at, first, target: first - 1 }))
  return { 'default set': list } as unknown as Watched['found']
}

async function inFolder(files: Readonly<Record<string, unknown>>, work: (folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-stalls-'))
  try {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(join(folder, path, '..'), { recursive: true })
      await writeFile(join(folder, path), JSON.stringify(content))
    }
    await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe('made-up runs with loops', (it) => {
  it('are the same for the same seed', () => {
    assert.equal(makeScenarios(2, 7), scenarios)
    assert.not.equal(makeScenarios(2, 8), scenarios)
  })

  it('are recorded with their loop, and go on after it if it ends by itself', () => {
    for (const scenario of scenarios) {
      const { before, loop, after, endsByItself, kind } = scenario
      const steps = stepsOf(sessionOf(scenario, kind))
      const made = steps.filter(({ results }) => results.length > 0).length
      const goesOn = !isStalled(scenario) || endsByItself
      assert.is(made, before.length + loop.length + (goesOn ? after.length : 0), kind)
      assert.is(steps.length - made, goesOn ? 1 : 0, kind)
    }
  })
})

describe('the measure of loops', (it) => {
  it('replays a run through a runtime that watches, and tells where its loop began', async () => {
    const scenario = kindOf('the same call')
    const from = scenario.before.length
    assert.equal((await watched(scenario))[0], { at: from + 2, first: from, target: from - 1 })
  })

  it('knows what a tool reports and declares', async () => {
    for (const kind of ['poll, declared', 'tests fail less each time', 'tests pass after each of many edits'])
      for (const run of [0, 1]) assert.equal(await watched(kindOf(kind, run)), [], kind)
    const undeclared = { ...sessionOf(kindOf('poll, declared'), 'undeclared'), polling: [] }
    assert.ok((await watch(undeclared)).found['default set'].length > 0)
    const { turns, ...rest } = sessionOf(kindOf('tests pass after each of many edits', 1), 'unreported')
    const forgetful = turns.map((turn) =>
      isStep(turn) ? { ...turn, results: turn.results.map(({ content, isError }) => ({ content, isError })) } : turn,
    )
    const pass = { ...rest, turns: forgetful.map((turn) => (isStep(turn) ? withoutTimes(turn) : turn)) }
    assert.ok((await watch(pass)).found.repeat.length > 0)
  })

  it('counts what was found in time, what it cost, and alarms outside', () => {
    const run = (loopFrom: number | null) => ({ kind: '', session: sessionOf(scenarios[0]!, ''), loopFrom })
    const scored = [
      { run: run(5), watched: { steps: 20, found: found([2, 0], [3, 0], [7, 5], [8, 5]) } },
      { run: run(5), watched: { steps: 20, found: found([9, 6]) } },
      { run: run(5), watched: { steps: 20, found: found() } },
      { run: run(null), watched: { steps: 30, found: found([5, 1], [11, 1], [18, 9]) } },
    ]
    assert.equal(scoreLoops(scored, 'default set'), {
      loops: 3,
      found: 2,
      wasted: [3, 5],
      distances: [0, 1],
      productiveSteps: 45,
      falseAlarms: 3,
    })
    const judged = scored.map((one, index) => ({
      ...one,
      run: { ...one.run, verdict: index < 3 ? ('failed' as const) : ('passed' as const) },
    }))
    assert.equal(scoreVerdicts(judged, 'default set'), {
      failed: 3,
      firedInFailed: 2,
      passed: 1,
      firedInPassed: 1,
      stepsInPassed: 30,
      alarmsInPassed: 2,
    })
  })
})

/** The time of a test run is the only thing in which two that pass differ. */
const withoutTimes = <T extends { readonly results: readonly object[] }>(step: T): T => ({
  ...step,
  results: step.results.map(
    (result) => JSON.parse(JSON.stringify(result).replaceAll(/duration_ms [\d.]+/g, '')) as object,
  ),
})

describe('a model that reacts', (it) => {
  const endless = kindOf('the same call')

  it('goes round until its limit when nothing watches', async () => {
    const { requests, isDone, reverts } = await react(endless, undefined, 1, ratios, 1)
    assert.equal([requests, isDone, reverts], [endless.before.length + endless.loop.length, false, 0])
  })

  it('leaves its loop when it is told, if it obeys', async () => {
    const { requests, isDone, reverts } = await react(endless, { stall: true }, 1, ratios, 1)
    assert.equal([requests, isDone, reverts], [endless.before.length + 3 + endless.after.length + 1, true, 0])
  })

  it('is taken back and then paused if it does not', async () => {
    const { requests, isDone, reverts } = await react(endless, { stall: true }, 0, ratios, 1)
    assert.equal([requests, isDone, reverts], [endless.before.length + 5, false, 1])
  })

  it('does a run without a loop as before, for the same price', async () => {
    const scenario = kindOf('read, edit, test')
    const [off, on] = [
      await react(scenario, undefined, 1, ratios, 1),
      await react(scenario, { stall: true }, 1, ratios, 1),
    ]
    assert.equal([on.isDone, on.requests, on.reverts], [true, off.requests, 0])
    assert.is(on.cost, off.cost)
    const [folds, foldsToo] = [
      await react(scenario, { fold: true }, 1, ratios, 1),
      await react(scenario, { fold: true, stall: true }, 1, ratios, 1),
    ]
    assert.is(foldsToo.cost, folds.cost)
  })

  it('is summed up, loops apart from work', async () => {
    const few = [endless, kindOf('the same call', 1), kindOf('read, edit, test')]
    const { stalled, productive } = await climb(few, await withoutLadder(few, ratios), settings[2]!, ratios)
    assert.equal([stalled.runs, stalled.doneOff, stalled.done], [2, 1, 2])
    assert.ok(stalled.costX < 0.9 && stalled.requestsX < 0.9)
    assert.equal([productive.runs, productive.done, productive.reverted, productive.dearer], [1, 1, 0, 0])
  })
})

const interCode = (valid: boolean, reward: number) => ({
  query: 'How many?',
  turn_history: { actions: ['ls', 'rm a', 'rm b'], observations: ['a', '', ''], valid_action: [true, true, valid] },
  summary: { max_reward: reward },
})

describe('recorded runs with outcomes', (it) => {
  it('are read from InterCode: failures from what was valid, changes from the command', async () => {
    await inFolder({ 'sql.json': { 0: interCode(false, 0.4), 1: interCode(true, 1) } }, async (folder) => {
      const runs = await readRuns(join(folder, 'sql.json'))
      assert.equal(
        runs.map(({ kind, verdict }) => [kind, verdict]),
        [
          ['sql', 'failed'],
          ['sql', 'passed'],
        ],
      )
      const results = stepsOf(runs[0]!.session).flatMap((step) => step.results)
      assert.equal(
        results.map(({ isError, changed }) => [isError, changed]),
        [
          [false, undefined],
          [false, ['execute']],
          [true, undefined],
        ],
      )
    })
  })

  it('are read from tau-bench', async () => {
    const call = (name: string, id: string) => ({ id, type: 'function', function: { name, arguments: '{}' } })
    const traj = [
      { role: 'user', content: 'Cancel it.' },
      { role: 'assistant', content: null, tool_calls: [call('get_order', 'a'), call('cancel_order', 'b')] },
      { role: 'tool', tool_call_id: 'a', content: 'Error: no such order' },
      { role: 'tool', tool_call_id: 'b', content: 'cancelled' },
    ]
    await inFolder({ 'retail.json': [{ traj, reward: 1 }] }, async (folder) => {
      const [run] = await readRuns(join(folder, 'retail.json'))
      assert.is(run!.verdict, 'passed')
      const [step] = stepsOf(run!.session)
      assert.equal(
        step!.results.map(({ isError, changed }) => [isError, changed]),
        [
          [true, undefined],
          [false, ['cancel_order']],
        ],
      )
    })
  })

  it('are read from Multi-SWE-bench, and measured', { timeoutMs: 20_000 }, async () => {
    const step = { action: 'search_dir "x"', observation: 'bash: x: command not found', thought: 'again' }
    const files = {
      'results/results.json': { submitted_ids: ['one', 'two'], resolved: ['two'] },
      'trajs/one.traj': {
        history: [{ role: 'user', content: 'Fix it.' }],
        trajectory: [step, step, step, step, step, step],
      },
      'trajs/not-judged.traj': { history: [{ role: 'user', content: 'Fix it.' }], trajectory: [step] },
      'trajs/two.traj': { history: [{ role: 'user', content: 'Fix it.' }], trajectory: [step] },
    }
    await inFolder(files, async (folder) => {
      const [set] = JSON.parse(await replayCommand(['--stall', '--json', folder])) as [
        Readonly<
          Record<'failed' | 'passed', { readonly runs: number; readonly paused: number; readonly costX: number }>
        >,
      ]
      assert.equal([set.failed.runs, set.failed.paused, set.passed.runs, set.passed.paused], [1, 1, 1, 0])
      assert.match(await replayCommand(['--stall', folder]), /\| default set +\|[^]*\| +1 \| +1 \| +100 \/ 0\.0 \|/)
    })
  })

  it('are refused with what was seen', async () => {
    const refusal = async (path: string): Promise<string> =>
      readRuns(path).then(
        () => 'read',
        (thrown: unknown) => (thrown instanceof ReplayError ? thrown.message : String(thrown)),
      )
    await inFolder({ 'other.json': [1] }, async (folder) => {
      assert.match(await refusal(join(folder, 'none.json')), /There is no file or folder .*none\.json/)
      assert.match(await refusal(join(folder, 'other.json')), /has no runs with outcomes of InterCode or tau-bench/)
      assert.match(await refusal(folder), /has no results\/results\.json with trajectories in trajs beside it/)
    })
  })
})

describe('the replay command with --stall', (it) => {
  it('prints how well loops are noticed and what that saves', { timeoutMs: 60_000 }, async () => {
    const text = await replayCommand(['--stall', '--runs', '1', '--seed', '3'])
    assert.match(text, /^## 28 generated runs \(1 of each shape, seed 3\)/)
    assert.match(text, /\| default set +\| +\d+ \|/)
    assert.match(text, /\| note, revert, pause; obeys always +\|/)
  })
})
