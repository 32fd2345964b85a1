import { indexOf, searchTools, type ToolIndex } from '../../src/finding/searchTools.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const tool = (name: string, description = '', ...fields: readonly string[]) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: Object.fromEntries(fields.map((field) => [field, {}])) },
})

const shop = indexOf([
  tool('listOrders', 'Lists the orders of a customer.', 'customerId', 'page'),
  tool('get_order', 'One order with its lines.', 'orderId'),
  tool('cancel_order', 'Cancels an order that was not sent yet.', 'orderId', 'reason'),
  tool('list_invoices', 'Invoices, also those of orders in the past.', 'year'),
  tool('refund', 'Pays money back.', 'invoice', 'amount'),
  tool('wetter', 'Das Wetter für eine Stadt.', 'stadt'),
  tool('tenki', '都市の天気を調べる。', 'city'),
])

const foundIn = (index: ToolIndex<ReturnType<typeof tool>>, query: string): string[] => {
  const { close, others } = searchTools(index, query)
  return [...close, ...others].map(({ name }) => name)
}
const found = (query: string): string[] => foundIn(shop, query)
const closeTo = (query: string): string[] => searchTools(shop, query).close.map(({ name }) => name)

describe('a search for tools', (it) => {
  it('ranks a word of the name above one of the description, and that above one of the arguments', () => {
    assert.equal(found('invoice'), ['list_invoices', 'refund'])
    assert.equal(found('order').slice(-1), ['list_invoices'])
    assert.equal(found('amount'), ['refund'])
  })

  it('ranks rare words above common ones, and the tool that has more of them first', () => {
    assert.is(found('cancel order')[0], 'cancel_order')
    assert.is(found('list the orders of a customer')[0], 'listOrders')
    assert.is(found('order money')[0], 'refund')
  })

  it('finds parts of names, plurals, beginnings, accents and scripts without spaces', () => {
    assert.is(found('LIST ORDER')[0], 'listOrders')
    assert.equal(found('refunds'), ['refund'])
    assert.equal(found('refu'), ['refund'])
    assert.equal(found('re'), [])
    assert.equal(found('fur'), ['wetter'])
    assert.equal(found('天気'), ['tenki'])
  })

  it('puts a tool first that the query names', () => {
    assert.is(found('get_order or cancel orders')[0], 'get_order')
    assert.is(found('listOrders')[0], 'listOrders')
  })

  it('tells those that match about as well as the best, or are named, from the others', () => {
    assert.equal(closeTo('cancel an order'), ['cancel_order'])
    assert.equal(closeTo('order').toSorted(), ['cancel_order', 'get_order', 'listOrders'])
    assert.equal(closeTo('refund or cancel_order'), ['cancel_order', 'refund'])
  })

  it('finds nothing for nothing, and for what no tool has', () => {
    for (const query of ['', '   ', '*', '"}', 'zebra', 'constructor', '__proto__']) assert.equal(found(query), [])
    assert.equal(foundIn(indexOf([]), 'order'), [])
  })

  it('is the same whatever the order of the words, and leaves equal tools in their order', () => {
    assert.equal(found('order cancel'), found('cancel order'))
    const same = indexOf(['b', 'a', 'c'].map((name) => tool(name, 'The same.')))
    assert.equal(foundIn(same, 'same'), ['b', 'a', 'c'])
  })

  it('reads schemas of any shape', () => {
    const odd = [null, true, { properties: null }, { properties: { a: null } }, { items: { properties: { deep: {} } } }]
    const index = indexOf(odd.map((inputSchema, n) => ({ ...tool(`odd${n}`), inputSchema: inputSchema as never })))
    assert.equal(foundIn(index, 'deep'), ['odd4'])
  })
})
