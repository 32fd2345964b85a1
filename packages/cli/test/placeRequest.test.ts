import { placeRequest } from '../src/cluster/placeRequest.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const workersOf = (...open: readonly number[]) => open.map((count, index) => ({ url: `http://w${index}`, open: count }))
const agents = Array.from({ length: 300 }, (_, number) => `agent-${number}`)
const place = (workers: ReturnType<typeof workersOf>) =>
  agents.map((agentId) => placeRequest(agentId, workers)?.url ?? '')

describe('the worker of a request', (it) => {
  it('is the same one for an agent, and agents are spread over all', () => {
    const first = place(workersOf(0, 0, 0))
    assert.equal(place(workersOf(0, 0, 0).toReversed()), first)
    const counts = workersOf(0, 0, 0).map(({ url }) => first.filter((one) => one === url).length)
    for (const count of counts) assert.ok(count > 70 && count < 130, counts.join())
  })

  it('stays when another worker comes or goes', () => {
    const three = place(workersOf(0, 0, 0))
    const two = place(workersOf(0, 0))
    for (const [index, url] of three.entries()) if (url !== 'http://w2') assert.is(two[index], url)
    const four = place(workersOf(0, 0, 0, 0))
    const moved = four.filter((url, index) => url !== three[index])
    assert.ok(moved.every((url) => url === 'http://w3'))
    assert.ok(moved.length < 110, `${moved.length} of 300 moved`)
  })

  it('is another one while that has more than its share', () => {
    const own = Number(placeRequest('a', workersOf(0, 0, 0, 0, 0, 0))!.url.at(-1))
    const loaded = (mine: number, other: number) =>
      workersOf(...[0, 1, 2, 3, 4, 5].map((index) => (index === own ? mine : other)))
    assert.is.not(placeRequest('a', loaded(19, 3))!.url, `http://w${own}`)
    assert.is(placeRequest('a', loaded(8, 3))!.url, `http://w${own}`)
    const even = loaded(9, 9)
    assert.is(placeRequest('a', even)!.url, `http://w${own}`)
  })

  it('is the one with the fewest requests where no agent is named, and none where there is none', () => {
    assert.is(placeRequest(undefined, workersOf(2, 1, 3))?.url, 'http://w1')
    assert.is(placeRequest('a', []), undefined)
    assert.is(placeRequest(undefined, []), undefined)
  })
})
