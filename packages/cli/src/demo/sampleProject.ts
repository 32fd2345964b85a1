const manifest = `{
  "name": "parcel-prices",
  "private": true,
  "type": "module",
  "scripts": {
    "test": "node --test"
  }
}
`

const shipping = `const freeFrom = 100
const lightUpTo = 2

/** Price of sending an order, in euros. */
export function shippingFor({ total, kilos }) {
  if (total > freeFrom) return 0
  return kilos <= lightUpTo ? 5 : 9
}
`

const order = `import { shippingFor } from './shipping.js'

/** Returns the amount the customer pays, in euros. */
export function amountDue(items) {
  const total = items.reduce((sum, { price, count }) => sum + price * count, 0)
  const kilos = items.reduce((sum, { weight, count }) => sum + weight * count, 0)
  return total + shippingFor({ total, kilos })
}
`

const test = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountDue } from '../src/order.js'

const book = { price: 25, weight: 0.5 }
const pan = { price: 30, weight: 2.5 }

test('a light parcel costs 5', () => {
  assert.equal(amountDue([{ ...book, count: 1 }]), 30)
})

test('a heavy parcel costs 9', () => {
  assert.equal(amountDue([{ ...pan, count: 1 }]), 39)
})

test('orders from 100 on are sent free of charge', () => {
  assert.equal(amountDue([{ ...book, count: 4 }]), 100)
})
`

/** A small project with a fault that one of its tests shows: contents by path. */
export const sampleProject: Readonly<Record<string, string>> = {
  'package.json': manifest,
  'src/order.js': order,
  'src/shipping.js': shipping,
  'test/order.test.js': test,
}
