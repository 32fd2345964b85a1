import { SharedLessons } from '../../src/conversation/brakes/lessons/sharedLessons.ts'
import { assert, describe } from '../support/suite.ts'

const lesson = (text: string, how: 'failed' | 'abandoned' = 'failed') => ({ how, text })

describe('the lessons of a group', (it) => {
  it('are known by names that nobody else has', () => {
    const group = new SharedLessons()
    assert.equal(
      ['a', 'a', 'b', 'a 2', 'a'].map((name) => group.join(name)),
      ['a', 'a 2', 'b', 'a 2 2', 'a 3'],
    )
  })

  it('are told to the others alone: of each call the newest', () => {
    const group = new SharedLessons()
    for (const name of ['a', 'b', 'c']) group.join(name)
    group.add('a', 'call', lesson('one'))
    assert.is(group.find('a', 'call'), undefined)
    assert.is(group.find('b', 'other'), undefined)
    assert.equal(group.find('b', 'call'), { by: 'a', ...lesson('one') })
    group.add('b', 'call', lesson('two', 'abandoned'))
    assert.equal(group.find('c', 'call'), { by: 'b', ...lesson('two', 'abandoned') })
    assert.equal(group.find('b', 'call'), { by: 'a', ...lesson('one') })
    group.add('a', 'call', lesson('three'))
    assert.equal(group.find('c', 'call'), { by: 'a', ...lesson('three') })
  })

  it('are neither taken from, nor told to, who does not take part', () => {
    const group = new SharedLessons()
    group.join('a')
    group.add('stranger', 'call', lesson('forged'))
    assert.is(group.find('a', 'call'), undefined)
    group.add('a', 'call', lesson('one'))
    assert.is(group.find('stranger', 'call'), undefined)
  })

  it('are so many at most: the call that was heard of longest ago goes first', () => {
    const group = new SharedLessons()
    group.join('a')
    group.join('b')
    for (let call = 0; call < 500; call += 1) group.add('a', `${call}`, lesson('x'))
    assert.ok(group.find('b', '0'))
    group.add('a', '0', lesson('again'))
    group.add('a', '500', lesson('x'))
    const known = ['0', '1', '2', '500'].map((call) => group.find('b', call) !== undefined)
    assert.equal(known, [true, false, true, true])
  })

  it('are gone with the group, which takes no more', () => {
    const group = new SharedLessons()
    group.join('a')
    group.join('b')
    group.add('a', 'call', lesson('one'))
    group.end()
    assert.is(group.find('b', 'call'), undefined)
    group.add('a', 'call', lesson('two'))
    assert.equal([group.join('a'), group.join('b')], ['a', 'b'])
    assert.is(group.find('b', 'call'), undefined)
  })
})
