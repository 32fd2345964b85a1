import { z } from 'zod'
import { agentCommands } from '../../src/protocol/bridge/commands.ts'
import { clientFrames, serverFrames } from '../../packages/wire/src/frames.ts'
import { logRecords } from '../../src/protocol/records.ts'
import { variants } from '../../src/protocol/bridge/variants.ts'
import { assert, describe } from '../support/suite.ts'

/** Two variants, and which of them a schema was made of. */
function counted() {
  const made: string[] = []
  const shapes = variants({
    circle: () => {
      made.push('circle')
      return z.strictObject({ type: z.literal('circle'), r: z.number() })
    },
    line: () => {
      made.push('line')
      return z.object({ type: z.literal('line'), to: z.array(z.number()) })
    },
  })
  return { shapes, made }
}

describe('objects that their type tells apart', (it) => {
  it('have no schema made but of what was met, and that once', () => {
    const { shapes, made } = counted()
    assert.equal(made, [])
    assert.equal(shapes.safeParse({ type: 'line', to: [1], more: 2 }).data, { type: 'line', to: [1] })
    assert.ok(shapes.safeParse({ type: 'line', to: [] }).success)
    assert.equal(made, ['line'])
    assert.ok(shapes.schema().safeParse({ type: 'circle', r: 1 }).success)
    assert.is(shapes.schema(), shapes.schema())
    assert.equal(made, ['line', 'circle'])
  })

  it('are judged as by the schema of all of them', () => {
    const { shapes } = counted()
    const values = [
      { type: 'circle', r: 1 },
      { type: 'circle', r: '1', s: 2 },
      { type: 'line', to: ['x'] },
      { type: 'toString' },
      { type: 5 },
      {},
      Object.assign([], { type: 'circle', r: 1 }),
      'circle',
      null,
      undefined,
    ]
    for (const value of values) {
      const { success, data, error } = shapes.schema().safeParse(value)
      const own = counted().shapes.safeParse(value)
      assert.equal([own.success, own.data, own.error?.issues], [success, data, error?.issues], JSON.stringify(value))
    }
  })

  it('stand under what their schemas have as their type', () => {
    const all = { agentCommands, clientFrames, serverFrames, logRecords }
    for (const [name, { makers }] of Object.entries(all))
      for (const [type, make] of Object.entries(makers)) assert.equal([...make().shape.type.values], [type], name)
  })
})
