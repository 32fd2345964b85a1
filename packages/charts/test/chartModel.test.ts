import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { and, not, or, setup, type AnyStateNode } from 'xstate'
import { agentMachine } from '../../../src/machines/agentMachine.ts'
import { supervisorMachine } from '../../../src/machines/supervisorMachine.ts'
import { chartModel, type BrakeFlags } from '../src/chartModel.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { chartedMachines } from './chartedMachines.ts'

function countTransitions(node: AnyStateNode): number {
  const own = [...[...node.transitions.values()].flat(), ...(node.always ?? [])]
  const starts = node.type === 'compound' ? 1 : 0
  const inner = Object.values(node.states).reduce((sum, child) => sum + countTransitions(child), 0)
  return starts + inner + own.reduce((sum, { target }) => sum + (target?.length ?? 1), 0)
}

describe('the model of a chart', (it) => {
  for (const [name, machine] of Object.entries(chartedMachines)) {
    it(`has every transition of ${name}, between nodes that it has, as plain JSON`, () => {
      const model = chartModel(machine)
      assert.is(model.edges.length, countTransitions(machine.root as AnyStateNode))
      const ids = model.nodes.map(({ id }) => id)
      assert.is(new Set(ids).size, ids.length)
      assert.is(new Set(model.edges.map(({ id }) => id)).size, model.edges.length)
      for (const { from, to } of model.edges) assert.ok(ids.includes(from) && ids.includes(to), `${from} → ${to}`)
      for (const [index, { parent }] of model.nodes.entries())
        assert.ok(parent === undefined ? index === 0 : ids.indexOf(parent) < index)
      assert.equal(JSON.parse(JSON.stringify(model)), model)
    })
  }

  it('says of each brake whether it is open, and of none where the flags are not known', () => {
    const openOf = (brakes?: BrakeFlags) =>
      Object.fromEntries(
        chartModel(agentMachine, { brakes })
          .edges.filter(({ isBrake }) => isBrake)
          .map(({ from, to, isOpen }) => [`${from} → ${to}`, isOpen]),
      )
    const between = ['entering', 'checked', 'consulted', 'pinned', 'reverted', 'undone', 'grafted', 'pruned']
    const all = (revert?: boolean, prune?: boolean, fold?: boolean, stall?: boolean, policies?: boolean) => ({
      'draining.entering → draining.checking': stall,
      ...Object.fromEntries(between.slice(0, 4).map((from) => [`draining.${from} → draining.reverts`, revert])),
      ...Object.fromEntries(
        ['entering', 'reverted', 'undone'].map((from) => [`draining.${from} → draining.undoing`, revert]),
      ),
      ...Object.fromEntries(between.slice(0, 7).map((from) => [`draining.${from} → draining.prunes`, prune])),
      ...Object.fromEntries(between.map((from) => [`draining.${from} → draining.folding`, fold])),
      ...Object.fromEntries(between.map((from) => [`draining.${from} → draining.consulting`, policies])),
      'idle → draining.consulting': policies,
    })
    const sorted = (open: object) => Object.entries(open).toSorted(([a], [b]) => (a < b ? -1 : 1))
    const shut = { revert: false, prune: false, fold: false, stall: false, policies: false }
    assert.equal(sorted(openOf()), sorted(all()))
    assert.equal(sorted(openOf({ ...shut, revert: true })), sorted(all(true, false, false, false, false)))
    assert.equal(sorted(openOf({ ...shut, prune: true })), sorted(all(false, true, false, false, false)))
    assert.equal(sorted(openOf({ ...shut, fold: true })), sorted(all(false, false, true, false, false)))
    assert.equal(sorted(openOf({ ...shut, stall: true })), sorted(all(false, false, false, true, false)))
    assert.equal(sorted(openOf({ ...shut, policies: true })), sorted(all(false, false, false, false, true)))
    assert.equal(sorted(openOf(shut)), sorted(all(false, false, false, false, false)))
  })

  it('marks every way into the reverts as a brake', () => {
    const ways = chartModel(agentMachine).edges.filter(({ to, isInternal }) => to === 'draining.reverts' && !isInternal)
    assert.ok(ways.length > 0)
    for (const { from, isBrake } of ways) assert.ok(isBrake, from)
  })

  it('names guards, also combined ones, timers and events that end an actor', () => {
    const machine = setup({ guards: { a: () => true, b: () => true, c: () => true } }).createMachine({
      initial: 'one',
      states: {
        one: { on: { GO: { guard: and(['a', not('b'), or(['b', 'c'])]), target: 'two' } }, after: { 500: 'two' } },
        two: { on: { BACK: { guard: () => true, target: 'one' } } },
      },
    })
    const edges = chartModel(machine).edges.map(({ from, kind, guards }) => ({ from, kind, guards }))
    assert.equal(edges, [
      { from: '(initial) (machine)', kind: 'initial', guards: [] },
      { from: 'one', kind: 'event', guards: ['a', 'not b', 'b or c'] },
      { from: 'one', kind: 'after', guards: [] },
      { from: 'two', kind: 'event', guards: ['guard'] },
    ])
    const kinds = chartModel(agentMachine)
      .edges.filter(({ from }) => from === 'backoff')
      .map(({ kind }) => kind)
    assert.equal(kinds, ['done', 'done', 'error', 'always', 'always', 'always'])
  })

  it('attaches the machines that run as actors, each once, however they contain each other', () => {
    const whole = agentMachine.provide({
      actors: { subAgent: supervisorMachine.provide({ actors: { agent: agentMachine as never } }) as never },
    })
    const model = chartModel(whole)
    assert.equal(
      model.machines.map(({ id }) => id),
      ['supervisor@1'],
    )
    assert.equal(
      model.actors.find(({ src }) => src === 'subAgent'),
      {
        id: 'subAgent',
        src: 'subAgent',
        kind: 'spawned',
        state: 'agent@1',
        machine: 'supervisor@1',
      },
    )
    const inner = model.machines[0]!.actors.find(({ src }) => src === 'agent')
    assert.equal([inner?.kind, inner?.state, inner?.machine], ['spawned', 'supervisor@1', 'agent@1'])
    assert.equal(chartModel(whole, { without: ['subAgent'] }).machines, [])
    assert.equal(
      model.actors.filter(({ kind }) => kind === 'invoked').map(({ id, src, state }) => [id, src, state])[0],
      ['reply', 'streamReply', 'replying'],
    )
  })

  it('is made and laid out without Node, for a page to do the same', () => {
    const seen = new Set<string>()
    const visit = (file: string): void => {
      if (seen.has(file)) return
      seen.add(file)
      for (const [, type, from] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export) (type )?[^;]*?from '([^']+)'/gms,
      )) {
        if (type !== undefined) continue
        assert.not.match(from!, /^node:|^elkjs|^ws$/, file)
        if (from!.startsWith('.')) visit(join(file, '..', from!))
      }
    }
    const charts = join(import.meta.dirname, '..', 'src')
    const pure = ['chartModel', 'chartDrawing', 'hubExits', 'chartLayout', 'chartSvg', 'chartMermaid']
    const graphs = [
      'conversationModel',
      'conversationRows',
      'conversationText',
      'conversationMermaid',
      'conversationSvg',
    ]
    for (const file of [...pure, ...graphs]) visit(join(charts, `${file}.ts`))
    assert.ok(seen.size > pure.length + graphs.length)
  })
})
