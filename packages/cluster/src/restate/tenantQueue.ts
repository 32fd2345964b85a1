import { z } from 'zod'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'

/** Limits for separating tenants. */
export interface TenantLimits {
  /** Metadata key that names an agent's tenant; agents without it share one tenant. */
  readonly by: string
  /** Maximum number of a tenant's runs at once, in all workers together. Default: any number. */
  readonly runs?: number
  /** Maximum number of runs at once in this worker, for all tenants. Waiting runs take turns by tenant. Default: any number. */
  readonly runsOfWorker?: number
  /** Maximum number of a tenant's prompts that wait in this worker; more are refused with `TENANT_LIMIT`. Default 1,000. */
  readonly waiting?: number
}

export const tenantLimitsSchema = lazily(() =>
  onlyFields({
    by: z.string().min(1),
    runs: z.int().positive().exactOptional(),
    runsOfWorker: z.int().positive().exactOptional(),
    waiting: z.int().nonnegative().exactOptional(),
  }),
)

interface Waiting {
  grant(): void
  giveUp(): void
}

/** A tenant with running or waiting runs. */
interface Tenant {
  active: number
  readonly waiting: Set<Waiting>
}

/**
 * Lets runs begin within the limits of their tenants. Tenants take turns, and the runs of one go in
 * order: a tenant that floods delays itself, and any other tenant waits for at most one run of each.
 */
export class TenantQueue {
  readonly #limits: TenantLimits
  /** Number of workers that share the limits of tenants. */
  readonly #workers: () => number
  /** Tenants by name, in the order of their turns. A tenant that was served moves to the end. */
  readonly #tenants = new Map<string, Tenant>()
  #active = 0
  #waiting = 0
  #isClosed = false

  constructor(limits: TenantLimits, workers: () => number) {
    this.#limits = limits
    this.#workers = workers
  }

  /** Number of waiting runs. */
  get length(): number {
    return this.#waiting
  }

  /** @throws RuntimeError `TENANT_LIMIT` if the maximum number of this tenant's prompts already wait */
  checkRoom(metadata: Metadata | undefined): void {
    const { by, waiting: most = 1_000 } = this.#limits
    const name = this.#nameOf(metadata)
    if ((this.#tenants.get(name)?.waiting.size ?? 0) < most || !this.#mustWait(name)) return
    const who = name === '' ? `without "${by}"` : `with ${by} ${JSON.stringify(name)}`
    throw new RuntimeError('TENANT_LIMIT', `${most} prompts of agents ${who} wait in this worker, the most allowed.`)
  }

  /** Resolves when a run of an agent with this metadata may begin, with a function to call once it is over; `undefined`: the signal was aborted, or the queue closed. */
  async enter(metadata: Metadata | undefined, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted || this.#isClosed) return undefined
    const name = this.#nameOf(metadata)
    const tenant = this.#tenants.get(name) ?? { active: 0, waiting: new Set() }
    this.#tenants.set(name, tenant)
    const { promise, resolve } = Promise.withResolvers<(() => void) | undefined>()
    const waiting: Waiting = {
      grant: () => resolve(this.#leaver(name, tenant)),
      giveUp: () => {
        if (this.#remove(name, tenant, waiting)) resolve(undefined)
      },
    }
    tenant.waiting.add(waiting)
    this.#waiting += 1
    this.#serve()
    if (!tenant.waiting.has(waiting)) return promise
    const { giveUp } = waiting
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Lets no further run begin: waiting ones give up. Idempotent. */
  close(): void {
    this.#isClosed = true
    for (const { waiting } of this.#tenants.values()) for (const one of waiting) one.giveUp()
  }

  /** Returns the name of a tenant: empty for agents without one. */
  #nameOf(metadata: Metadata | undefined): string {
    const value = metadata?.[this.#limits.by]
    return value === undefined ? '' : String(value)
  }

  /** Number of one tenant's runs that may run here at once: this worker's share of the limit. */
  get #share(): number {
    const { runs = Infinity } = this.#limits
    return Math.max(1, Math.floor(runs / Math.max(1, this.#workers())))
  }

  #mustWait(name: string): boolean {
    const { active = 0, waiting } = this.#tenants.get(name) ?? {}
    return this.#active >= (this.#limits.runsOfWorker ?? Infinity) || active >= this.#share || (waiting?.size ?? 0) > 0
  }

  /** Begins all runs that may begin now, in turn. */
  #serve(): void {
    const { runsOfWorker = Infinity } = this.#limits
    const share = this.#share
    for (let isServed = true; isServed && this.#active < runsOfWorker;) {
      isServed = false
      for (const [name, tenant] of this.#tenants) {
        if (tenant.waiting.size === 0 || tenant.active >= share) continue
        const [first] = tenant.waiting
        tenant.waiting.delete(first!)
        this.#waiting -= 1
        this.#active += 1
        tenant.active += 1
        this.#tenants.delete(name)
        this.#tenants.set(name, tenant)
        first!.grant()
        isServed = true
        break
      }
    }
  }

  #leaver(name: string, tenant: Tenant): () => void {
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      this.#active -= 1
      tenant.active -= 1
      this.#forget(name, tenant)
      this.#serve()
    }
  }

  #remove(name: string, tenant: Tenant, waiting: Waiting): boolean {
    if (!tenant.waiting.delete(waiting)) return false
    this.#waiting -= 1
    this.#forget(name, tenant)
    return true
  }

  #forget(name: string, tenant: Tenant): void {
    if (tenant.active === 0 && tenant.waiting.size === 0) this.#tenants.delete(name)
  }
}
