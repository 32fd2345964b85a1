import { mayBeAlive, newHolder } from '../src/holder.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('the process of a lock', (it) => {
  const codes = [
    ['ESRCH', false],
    ['EPERM', true],
    ['EINVAL', true],
    ['ENOSYS', true],
  ] as const
  for (const [code, isAlive] of codes)
    it(`${isAlive ? 'may be alive' : 'is gone'} where looking for it fails with ${code}`, async (context) => {
      const { kill } = process
      context.cleanup(() => {
        process.kill = kill
      })
      process.kill = () => {
        throw Object.assign(new Error(code), { code })
      }
      assert.is(await mayBeAlive(await newHolder()), isAlive)
    })
})
