import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../packages/cli/test/cliChild.ts'
import { madeOnce } from './madeOnce.ts'
import { assert, describe } from './suite.ts'

describe('what is made once', (it) => {
  it('is made by the first who asks, and the others get the same', async (context) => {
    const path = join(projectFolder(context, {}), 'made')
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    let times = 0
    const make = async (): Promise<void> => {
      times += 1
      begun.resolve()
      await goOn.promise
      writeFileSync(path, 'made')
    }
    const first = madeOnce(path, make, context.signal)
    await begun.promise
    const others = [madeOnce(path, make, context.signal), madeOnce(path, make, context.signal)]
    goOn.resolve()
    await Promise.all([first, ...others])
    await madeOnce(path, make, context.signal)
    assert.is(times, 1)
  })

  it('is made by the next where the first fails', async (context) => {
    const path = join(projectFolder(context, {}), 'made')
    await assert.rejects(
      madeOnce(path, () => Promise.reject(new Error('no room')), context.signal),
      /no room/,
    )
    await madeOnce(path, async () => writeFileSync(path, 'made'), context.signal)
    assert.ok(existsSync(path))
  })

  it('is waited for no longer than its asker lives', async (context) => {
    const path = join(projectFolder(context, {}), 'made')
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const first = madeOnce(path, () => (begun.resolve(), goOn.promise), context.signal)
    await begun.promise
    const impatient = new AbortController()
    const other = madeOnce(path, () => assert.unreachable(), impatient.signal)
    impatient.abort(new Error('the case is over'))
    await assert.rejects(other, /aborted/)
    goOn.resolve()
    await first
  })
})
