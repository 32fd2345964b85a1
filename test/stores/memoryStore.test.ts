import { recordsBetween } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { assert, describe } from '../support/suite.ts'

describe('a store in memory', (it) => {
  it('was written when its last record was, and holds nothing once it is closed', async () => {
    const store = memoryStore()
    const lease = await store.open('a')
    const [first, second] = recordsBetween(1, 2)
    await store.append(
      'a',
      [
        { ...first!, time: 10 },
        { ...second!, time: 20 },
      ],
      lease.epoch,
    )
    assert.equal(await store.stat?.('a'), { size: 2, writtenAt: 20 })
    const { epoch = 0 } = lease
    const held = () => [undefined, epoch, epoch - 1].map((one) => store.holds?.('a', one))
    assert.equal(held(), [true, true, false])
    await store.close()
    assert.equal(held(), [false, false, false])
  })
})
