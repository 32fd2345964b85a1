import type { ChartLayout, PlacedArrow, PlacedBox } from '../../../../charts/src/chartLayout.ts'
import { arranged, machinesBeside } from '../../../src/inspector/model/charts/machinesBeside.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const box = (id: string, x: number, y: number, width: number, height: number, parent?: string): PlacedBox => ({
  id,
  label: id,
  kind: parent === undefined ? 'machine' : 'atomic',
  details: [],
  x,
  y,
  width,
  height,
  depth: parent === undefined ? 1 : 2,
  isOuter: parent === undefined,
  ...(parent === undefined ? {} : { parent }),
})
const arrow = (from: string, to: string, more: Partial<PlacedArrow> = {}): PlacedArrow => ({
  id: `${from} ${to}`,
  from,
  to,
  style: 'plain',
  edges: [],
  points: [
    { x: 0, y: 0 },
    { x: 0, y: 10 },
  ],
  ...more,
})
const layout: ChartLayout = {
  title: 'agent',
  width: 200,
  height: 760,
  boxes: [
    box('agent', 20, 20, 160, 500),
    box('idle', 40, 60, 60, 40, 'agent'),
    box('helper', 60, 560, 100, 80),
    box('open', 70, 580, 40, 30, 'helper'),
    box('other', 60, 660, 100, 80),
  ],
  arrows: [
    arrow('idle', 'idle'),
    arrow('open', 'open', {
      points: [
        { x: 70, y: 580 },
        { x: 110, y: 580 },
      ],
      label: { x: 75, y: 585, lines: ['go'] },
    }),
    arrow('agent', 'helper'),
  ],
}

describe('machines of a chart', (it) => {
  it('lie beside the first where the view is wide, with what is in them', () => {
    const { boxes, arrows, width, height } = machinesBeside(layout)
    const placeOf = (id: string): unknown => boxes.filter((one) => one.id === id).map(({ x, y }) => [x, y])[0]
    assert.equal(['agent', 'idle', 'helper', 'open', 'other'].map(placeOf), [
      [20, 20],
      [40, 60],
      [220, 20],
      [230, 40],
      [220, 140],
    ])
    assert.equal([width, height], [340, 540])
    assert.equal(arrows[0], layout.arrows[0])
    assert.equal(arrows[1]!.points, [
      { x: 230, y: 40 },
      { x: 270, y: 40 },
    ])
    assert.equal(arrows[1]!.label, { x: 235, y: 45, lines: ['go'] })
    assert.equal(arrows[2]!.points, [
      { x: 180, y: 60 },
      { x: 220, y: 60 },
    ])
  })

  it('stay where they are in a view that is high, and where there is one', () => {
    assert.is(arranged(layout, { width: 200, height: 900 }), layout)
    assert.is(arranged(layout, { width: 800, height: 400 }).height, 540)
    const alone = { ...layout, boxes: layout.boxes.slice(0, 2), arrows: layout.arrows.slice(0, 1) }
    assert.is(machinesBeside(alone), alone)
  })
})
