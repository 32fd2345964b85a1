import type { HostView } from './hostTypes.ts'

/** A machine that is open here, as lists and servers need it. */
export interface OpenHost {
  readonly view: HostView
  send(event: unknown, options?: { readonly requestId?: string }): Promise<void>
  onStep(listener: (view: HostView) => void): () => void
  close(): Promise<void>
}

const registries = new WeakMap<object, Map<string, OpenHost>>()

/** Returns the machines that a runtime has open, by id. */
export function hostsIn(runtime: object): Map<string, OpenHost> {
  const hosts = registries.get(runtime) ?? new Map<string, OpenHost>()
  registries.set(runtime, hosts)
  return hosts
}
