import { agentMachine } from '../../../../../src/machines/agentMachine.ts'
import type { PauseReason } from '../../../../../src/protocol/records.ts'
import { chartModel } from '../../../../charts/src/chartModel.ts'
import { overviewLayout } from '../../../../charts/src/overviewLayout.ts'
import { overviewModel } from '../../../../charts/src/overviewModel.ts'
import { chosenWords } from '../../../src/inspector/model/charts/chartChoice.ts'
import { measureText } from '../../../../charts/src/textMeasure.ts'
import {
  cameraKey,
  centred,
  farName,
  farText,
  namesFromAfar,
  fitCamera,
  scaleLimits,
  zoomed,
} from '../../../src/inspector/model/charts/chartCamera.ts'
import { arrowEnd, wayPath } from '../../../../charts/src/arrowPath.ts'
import { brakeWords, chartWords, isActiveState, pauseLine } from '../../../src/inspector/model/charts/chartWords.ts'
import { recentStates } from '../../../src/inspector/model/charts/recentStates.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const shut = { revert: false, prune: false, fold: false, stall: false, policies: false }
const viewport = { width: 400, height: 300 }

describe('a chart in words', (it) => {
  it('tells every state but the starts, and which are active', () => {
    const model = chartModel(agentMachine, { brakes: shut })
    const words = chartWords(model, 'replying.streaming')
    const active = words.filter(({ isActive }) => isActive).map(({ id }) => id)
    assert.equal(active, ['replying', 'replying.streaming'])
    assert.is(words.length, model.nodes.filter(({ kind, parent }) => kind !== 'initial' && parent !== undefined).length)
    assert.ok(words.every(({ id }) => !id.startsWith('(initial)')))
  })

  it('tells of every transition where it leads and under which guard', () => {
    const model = chartModel(agentMachine, { brakes: shut })
    const told = chartWords(model, '').flatMap(({ transitions }) => transitions)
    const root = model.nodes[0]!.id
    assert.is(told.length, model.edges.filter(({ kind, from }) => kind !== 'initial' && from !== root).length)
    assert.ok(told.every(({ when }) => when !== ''))
    const brakes = told.filter(({ brake }) => brake !== null)
    assert.ok(brakes.length > 0)
    assert.ok(brakes.every(({ brake }) => brake === 'shut'))
    const open = chartWords(
      chartModel(agentMachine, { brakes: { revert: true, prune: true, fold: true, stall: true, policies: true } }),
      '',
    )
    assert.ok(open.flatMap(({ transitions }) => transitions).every(({ brake }) => brake === null || brake === 'open'))
  })

  it('takes a state for active when one inside it is, and no other whose name begins alike', () => {
    assert.ok(isActiveState('replying', 'replying.streaming'))
    assert.not.ok(isActiveState('reply', 'replying.streaming'))
    assert.not.ok(isActiveState('replying', ''))
  })

  it('says of each brake whether it is shut, and nothing when that is not known', () => {
    const told = brakeWords({ revert: true, prune: false, fold: false, stall: false, policies: false }).map(
      ({ name, isOpen }) => [name, isOpen],
    )
    assert.equal(told, [
      ['Revert', true],
      ['Prune', false],
      ['Fold', false],
      ['Stall', false],
      ['Policies', false],
    ])
    assert.equal(brakeWords(undefined), [])
  })
})

describe('what a person chose of a chart', (it) => {
  const model = chartModel(agentMachine, { brakes: { ...shut, revert: true } })
  const overview = overviewLayout(overviewModel(model))

  it('is told of every arrow of the overview by the transitions it stands for', () => {
    for (const arrow of overview.arrows.filter(({ edges }) => edges.length > 0)) {
      const words = chosenWords(model, { type: 'arrow', arrow })!
      assert.is(words.transitions.length, new Set(arrow.edges).size, arrow.id)
      if (arrow.role !== 'bundle') assert.is(words.title, `${arrow.from} → ${arrow.to}`)
    }
  })

  it('is told of a state with what it is, what it runs, where it leads and its brakes', () => {
    const { about, runs, transitions } = chosenWords(model, { type: 'state', id: 'draining' })!
    assert.match(about!, 'Between turns')
    assert.ok(runs.includes('drainReverts'))
    const told = transitions.map(({ from, to, brake }) => `${from} ${to} ${brake}`)
    assert.ok(told.includes('draining.entering draining.reverts open'))
    assert.ok(told.includes('draining.leaving idle null'))
    assert.not.ok(
      told.some((line) => line.includes('draining.pinned draining.pins')),
      'what stays inside is not told',
    )
  })

  it('is nothing where the chart does not have it', () => {
    assert.is(chosenWords(model, { type: 'state', id: 'flying' }), undefined)
    assert.is(chosenWords(model, { type: 'state', id: '(initial) replying' }), undefined)
  })
})

describe('the camera of a chart', (it) => {
  it('shows names alone from afar, never smaller than 12 pixels', () => {
    assert.is(farText(0.6), null)
    for (const scale of [0.1, 0.25, 0.45, 0.59]) assert.ok(farText(scale)! * scale >= 12, `${scale}`)
  })

  it('shows no name on another from afar, and that of the active state first', () => {
    const far = farText(0.1)!
    const box = (id: string, x: number, more: object = {}) => ({
      id,
      label: id,
      kind: 'atomic',
      depth: 2,
      x,
      y: 0,
      width: 100,
      height: 40,
      isOuter: false,
      ...more,
    })
    const boxes = [
      box('executing', 0),
      box('idle', 150),
      box('far', 3_000),
      box('inner', 6_000, { depth: 3 }),
      box('roomy', 9_000, { depth: 3, width: 2_000 }),
      box('agent', 0, { kind: 'machine', depth: 1, isOuter: true, width: 20_000 }),
    ]
    assert.equal([...namesFromAfar(boxes, far, new Map())], ['executing', 'far', 'inner', 'roomy'])
    assert.equal([...namesFromAfar(boxes, far, new Map([['idle', 'itself']]))], ['idle', 'far', 'inner', 'roomy'])
    // One that is high keeps others away where it is, and not below.
    const high = [box('compacting', 0, { height: 900, width: 900 }), box('settling', 0, { y: 960, width: 900 })]
    assert.is(namesFromAfar(high, far, new Map()).size, 2)
    const machine = box('agent', 0, { kind: 'machine', depth: 1, isOuter: true, width: 20_000, y: -900 })
    assert.ok(namesFromAfar([...boxes, machine], far, new Map()).has('agent'), 'its name has room above the states')
  })

  it('holds names in their boxes from afar, if need be a little smaller or the box a little wider', () => {
    const far = farText(0.37)!
    for (const [label, width, isOuter] of [
      ['executing', 90, false],
      ['compacting', 160, false],
      ['idle', 120, false],
      ['agent', 900, true],
    ] as const) {
      const box = { x: 100, y: 50, width, height: 40, label, isOuter }
      const { size, around } = farName(box, far)
      assert.ok(measureText(label, size) + 2 <= around.width, `${label} reaches out of its box`)
      assert.ok(size <= far && size >= 0.8 * far, `${label} is ${size}`)
      assert.ok(Math.abs(around.x + around.width / 2 - (box.x + width / 2)) < 1e-9, `${label} stays in its place`)
      assert.equal([around.y, around.height], [50, 40])
      if (isOuter || label === 'idle') assert.equal([size, around.x, around.width], [far, 100, width])
    }
  })

  it('shows a large picture whole in the middle, and a small one as it is', () => {
    assert.equal(fitCamera({ width: 800, height: 300 }, viewport), { x: 0, y: 75, scale: 0.5 })
    assert.equal(fitCamera({ width: 100, height: 100 }, viewport), { x: 150, y: 100, scale: 1 })
    assert.equal(fitCamera({ width: 0, height: 0 }, viewport), { x: 0, y: 0, scale: 1 })
  })

  it('keeps what is under the pointer there while it zooms, within its limits', () => {
    const before = { x: 10, y: 20, scale: 1 }
    const at = { x: 110, y: 220 }
    const after = zoomed(before, 2, at)
    const under = (camera: typeof before): number[] => [
      (at.x - camera.x) / camera.scale,
      (at.y - camera.y) / camera.scale,
    ]
    assert.equal(under(after), under(before))
    assert.is(zoomed(before, 1_000, at).scale, scaleLimits.most)
    assert.is(zoomed(before, 0.0001, at).scale, scaleLimits.least)
  })

  it('puts a state in the middle', () => {
    const camera = centred(2, { x: 100, y: 50, width: 20, height: 10 }, viewport)
    assert.equal([110 * 2 + camera.x, 55 * 2 + camera.y], [200, 150])
  })

  it('is moved by the arrow keys, zoomed by plus and minus, and takes no other key', () => {
    const camera = { x: 0, y: 0, scale: 2 }
    const after = (key: string): unknown => cameraKey(key, camera, viewport)
    assert.equal(after('ArrowLeft'), { x: 48, y: 0, scale: 2 })
    assert.equal(after('ArrowDown'), { x: 0, y: -48, scale: 2 })
    assert.equal(after('Z'), { x: 100, y: 75, scale: 1 })
    assert.is(after('z'), 'fit')
    // Keys of the page, which go to its views.
    for (let digit = 0; digit < 10; digit++) assert.is(after(String(digit)), undefined)
    assert.is(after('a'), undefined)
    assert.is(after('Tab'), undefined)
  })
})

describe('the way of an arrow', (it) => {
  it('begins and ends at its points and rounds the corners between', () => {
    const points = [
      { x: 0, y: 0 },
      { x: 0, y: 40 },
      { x: 30, y: 40 },
    ]
    assert.is(wayPath(points), 'M0 0L0 33Q0 40 7 40L30 40')
    const short = [...points.slice(0, 2), { x: 8, y: 40 }]
    assert.is(wayPath(short), 'M0 0L0 33Q0 40 4 40L8 40', 'of a short piece no more than half is rounded')
    assert.is(arrowEnd(points)?.head, 'M30 40L22 44L22 36z')
  })

  it('has no head without a length', () => {
    const at = { x: 1, y: 1 }
    assert.is(arrowEnd([at, at]), undefined)
    assert.is(arrowEnd([at]), undefined)
    assert.is(wayPath([at, at, at]), 'M1 1L1 1Q1 1 1 1L1 1')
  })
})

describe('the trail of a machine', (it) => {
  it('is the states it passed since the last look, without the one it is in', () => {
    const at = { agentId: 'a', path: [], seq: 1, time: 1, runId: 'a/r0', turnIndex: 0, type: 'state.changed' } as const
    const events = [
      { ...at, previous: 'stopped', state: 'idle' },
      { ...at, previous: 'idle', state: 'replying.requesting' },
      { ...at, previous: 'replying.requesting', state: 'idle' },
    ]
    assert.equal([...recentStates(events, 1, 'idle')], ['replying.requesting'])
    assert.equal([...recentStates(events, 3, 'idle')], [])
  })
})

describe('why a chart is paused', (it) => {
  it('is a line of the state where it is drawn', () => {
    const layout = overviewLayout(overviewModel(chartModel(agentMachine)))
    const lines = layout.boxes.find(({ id }) => id === 'paused')!.details
    const used = { type: 'limit', allowed: 1, used: 1 } as const
    const stall = { type: 'stall', evidence: '', kind: 'repeat', count: 3 } as unknown as PauseReason
    const reasons: readonly PauseReason[] = [
      { ...used, limit: 'turns' },
      { ...used, limit: 'costUsd' },
      { ...used, limit: 'ms' },
      { type: 'approvals', callIds: [] },
      { type: 'store', error: { code: 'STORE_CLOSED', message: '' } },
      stall,
      { type: 'interrupted' },
    ]
    const told = reasons.map(pauseLine)
    assert.equal(
      told.filter((line) => line === null || !lines.includes(line)),
      [],
    )
    assert.is(new Set(told).size, reasons.length)
    assert.equal([pauseLine(null), pauseLine({ type: 'timer', until: 1 })], [null, null])
  })
})
