import { Folding, foldLog, type Fold } from '../../src/log/fold.ts'
import { takenFold } from '../../src/conversation/tree/takenTools.ts'
import { requestsFold } from '../../src/log/requestIndex.ts'
import { spentFold } from '../../src/log/spent.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { hostFolds } from '../../src/runtime/agents/keptAgent.ts'
import { assert, describe } from '../support/suite.ts'

const record = (type: LogRecord['type'], rest: object = {}): LogRecord =>
  ({ v: 3, seq: 1, time: 5, type, runId: 'a/r0', turnIndex: 0, ...rest }) as unknown as LogRecord

const start = (requestId: string): LogRecord => record('run.start', { requestId, cause: 'resume' })

/** Changed in place. */
const seen: Fold<string[]> = {
  name: 'seen',
  initial: () => [],
  on: { 'run.start': (ids, { requestId }) => void ids.push(requestId) },
  each: (ids, { type }) => void ids.push(type),
}

/** Made anew. */
const turns: Fold<number> = { name: 'turns', initial: () => 0, on: { 'turn.start': (count) => count + 1 } }

const own: Fold<{ readonly runs: number }, number> = {
  name: 'own',
  isOwn: true,
  initial: () => ({ runs: 0 }),
  on: { 'run.start': ({ runs }) => ({ runs: runs + 1 }) },
  keep: ({ runs }) => runs,
  resume: (runs) => ({ runs }),
}

const list = [seen, turns, own]

describe('folds over one log', (it) => {
  it('take each record by its type and then as one of all, in place or anew', () => {
    const folding = new Folding(list)
    const [all, count] = [folding.at(seen), folding.at(turns)]
    const before = all.state
    for (const one of [start('q'), record('turn.start'), record('turn.start')]) folding.apply(one)
    assert.equal(all.state, ['q', 'run.start', 'turn.start', 'turn.start'])
    assert.is(all.state, before)
    assert.is(count.state, 2)
    assert.is(foldLog(turns, [record('turn.start')], [record('turn.start')]), 2)
  })

  it('begin anew with a fork where they are of its own log alone, under the eyes of who holds the cell', () => {
    const folding = new Folding(list)
    const cell = folding.at(own)
    for (const one of [start('q'), start('r'), record('agent.created'), start('s')]) folding.apply(one)
    assert.is(cell.state.runs, 1)
    assert.is(folding.at(seen).state.filter((id) => id === 'run.start').length, 3)
  })

  it('go on from what was kept, by name; one that is not among it begins at its beginning', () => {
    const folding = new Folding([own, turns])
    for (const one of [start('q'), record('turn.start')]) folding.apply(one)
    const kept = JSON.parse(JSON.stringify(folding.keep()))
    assert.equal(kept, { own: 1, turns: 1 })
    const next = new Folding(list, kept)
    for (const one of [start('r'), record('turn.start')]) next.apply(one)
    assert.equal([next.at(own).state.runs, next.at(turns).state], [2, 2])
    assert.equal(next.at(seen).state, ['r', 'run.start', 'turn.start'])
  })
})

describe('what the host of a fork knows', (it) => {
  const end = { stopReason: 'stop', turns: 1, usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }, costUsd: 2 }
  const past = [start('q'), record('run.end', end), record('tools.changed', { added: [{ name: 't' }], removed: [] })]

  it('is of its own log what was asked and spent, and of its past what tools were taken', () => {
    const folds = new Folding(hostFolds)
    for (const one of [...past, record('agent.created'), start('r')]) folds.apply(one)
    const { ids } = folds.stateOf(requestsFold)
    assert.equal([ids.has('q'), ids.has('r')], [false, true])
    assert.is(folds.stateOf(spentFold).spent.costUsd, 0)
    assert.equal([...folds.stateOf(takenFold).tools.keys()], ['t'])
  })

  it('is the same from a checkpoint at any record', () => {
    const log = [...past, record('agent.created'), start('r'), record('run.end', end), start('s')]
    const whole = new Folding(hostFolds)
    for (const one of log) whole.apply(one)
    for (let at = 0; at <= log.length; at += 1) {
      const before = new Folding(hostFolds)
      for (const one of log.slice(0, at)) before.apply(one)
      const after = new Folding(hostFolds, JSON.parse(JSON.stringify(before.keep())))
      for (const one of log.slice(at)) after.apply(one)
      assert.is(JSON.stringify(after.keep()), JSON.stringify(whole.keep()), `at ${at}`)
    }
  })
})
