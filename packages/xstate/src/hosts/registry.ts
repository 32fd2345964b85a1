import type { HostView } from '../../../../src/protocol/parts/hosts/hostView.ts'

/** A machine that is open here, as lists and servers need it. */
export interface OpenHost {
  readonly view: HostView
  /** True while somebody in this process has it or listens to it. */
  readonly isAttended: boolean
  send(event: unknown, options?: { readonly requestId?: string }): Promise<void>
  settled(options?: { readonly signal?: AbortSignal }): Promise<void>
  close(): Promise<void>
}

/** A machine that can be opened in this process. */
export interface OfferedMachine {
  readonly name: string
  open(runtime: object, id: string): Promise<OpenHost>
}

interface Hosting {
  /** Machines that are open, by id. */
  readonly open: Map<string, OpenHost>
  /** Machines that can be opened, by name. */
  readonly offered: Map<string, OfferedMachine>
}

const hostings = new WeakMap<object, Hosting>()

/** Returns the machines of a runtime. */
export function hostingOf(runtime: object): Hosting {
  const hosting = hostings.get(runtime) ?? { open: new Map(), offered: new Map() }
  hostings.set(runtime, hosting)
  return hosting
}
