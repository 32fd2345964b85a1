import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { mapped } from '../../src/protocol/mapped.ts'
import { assert, describe } from '../support/suite.ts'

interface Natives {
  isHoley(list: readonly unknown[]): boolean
  /** Compiles it for what it is called with here, and calls it once more. */
  compiled(make: (list: readonly string[]) => unknown[], list: readonly string[]): unknown[]
}

/** What V8 tells of its own. */
function natives(): Natives {
  setFlagsFromString('--allow-natives-syntax')
  return runInThisContext(`({
    isHoley: (list) => %HasHoleyElements(list),
    compiled: (make, list) => {
      %PrepareFunctionForOptimization(make);
      for (let times = 0; times < 1000; times += 1) make(list);
      %OptimizeFunctionOnNextCall(make);
      return make(list)
    },
  })`) as Natives
}

describe('a list made of another', (it) => {
  it('has what map makes, in its order', () => {
    assert.equal(
      mapped(['a', 'b'], (item, index) => [item, index]),
      [
        ['a', 0],
        ['b', 1],
      ],
    )
    assert.equal(
      mapped([], () => assert.unreachable()),
      [],
    )
  })

  it('is of one kind for V8, compiled or not, which that of map is not', () => {
    const { isHoley, compiled } = natives()
    const object = (text: string): object => ({ text })
    const [byMap, byMapped] = [
      (list: readonly string[]) => list.map(object),
      (list: readonly string[]) => mapped(list, object),
    ]
    const list = ['a', 'b']
    assert.equal([isHoley(byMap(list)), isHoley(byMapped(list))], [false, false])
    assert.is(isHoley(compiled(byMap, list)), true, 'without a difference mapped is not needed any more')
    assert.is(isHoley(compiled(byMapped, list)), false)
  })
})
