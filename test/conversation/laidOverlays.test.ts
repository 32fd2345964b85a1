import { LaidOverlays, type LaidOverlay } from '../../src/conversation/request/overlay.ts'
import { assert, describe } from '../support/suite.ts'

const laid = (nodeId: number, from: number, to: number): LaidOverlay => ({
  nodeId,
  from,
  to,
  summary: `summary ${nodeId}`,
  kept: [],
  recentTo: to,
  maxToolOutputChars: 100,
  facts: '',
  saved: 1,
  tokens: 1,
})

describe('the overlays of a conversation', (it) => {
  const trunk = (last: number) => ({ onTrunk: (id: number) => id <= last })

  it('hold from the newest on whose span is on the trunk: an older one again once that is not', () => {
    const overlays = new LaidOverlays()
    assert.is(overlays.active(trunk(9)), undefined)
    for (const overlay of [laid(4, 1, 3), laid(8, 1, 7)]) overlays.add(overlay)
    assert.is(overlays.active(trunk(9))?.nodeId, 8)
    assert.is(overlays.active(trunk(6))?.nodeId, 4)
    assert.is(overlays.active(trunk(2)), undefined)
  })

  it('are read once, where they are kept, and missed where they are not', () => {
    const read: number[] = []
    const overlays = new LaidOverlays(
      [laid(4, 1, 3), laid(8, 1, 7)].map(({ nodeId, from, to }) => ({ nodeId, from, to })),
      { readOverlay: (id) => (read.push(id), id === 4 ? laid(4, 1, 3) : undefined) },
    )
    assert.is(overlays.active(trunk(9))?.to, 7)
    assert.equal(read, [])
    assert.equal(overlays.get(4), laid(4, 1, 3))
    assert.is(overlays.get(4), overlays.get(4))
    assert.equal(read, [4])
    assert.throws(() => overlays.get(8), /the summary n8 is missing in what was kept/)
    assert.is(overlays.get(5), undefined)
    overlays.add(laid(12, 9, 11))
    assert.equal(overlays.spans, [
      { nodeId: 4, from: 1, to: 3 },
      { nodeId: 8, from: 1, to: 7 },
      { nodeId: 12, from: 9, to: 11 },
    ])
  })
})
