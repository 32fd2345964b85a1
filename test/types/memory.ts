import { z } from 'zod'
import { createRuntime, defineAgent, policyModel, type MemoryOptions } from '../../src/index.ts'
import { isTrusted, type Memory } from '../../src/memory.ts'

declare const store: Memory
const model = policyModel(() => 'Hello.')

class Shop {
  readonly customer = 'anna'
}

/** Tools whose names a user is given are called with the deps of the definition. */
export const clerk = defineAgent({
  name: 'clerk',
  model,
  deps: z.instanceof(Shop),
  memory: { store, user: ({ deps, metadata }) => (metadata['vip'] === true ? deps.customer : undefined) },
})

/** Without deps of its own, nothing is known of them. */
export const plain = defineAgent({
  name: 'plain',
  model,
  memory: {
    store,
    // @ts-expect-error deps are unknown
    user: ({ deps }) => deps.customer,
  },
})

export const alone = defineAgent({ name: 'alone', model, memory: store })

// @ts-expect-error a scope has a tier
await store.list({ scopes: ['anna'] })
export const known: boolean = isTrusted((await store.list({ scopes: ['user:anna'] }))[0]!)

// @ts-expect-error it needs a store
export const options: MemoryOptions = { user: 'anna' }

const runtime = await createRuntime()
await runtime.spawn(clerk, { deps: new Shop() })
// @ts-expect-error the memory needs the deps as well
;(await runtime.spawn(clerk)).prompt('hi')
await (await runtime.spawn(alone)).prompt('hi').result
