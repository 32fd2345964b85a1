import type { HostView } from '../../../wire/src/hostView.ts'

/** A machine that is open here, as lists and servers need it. */
export interface OpenHost {
  readonly view: HostView
  /** Its definition, as XState made it. */
  readonly definition: object
  /** True while somebody in this process has it or listens to it. */
  readonly isAttended: boolean
  /** Resolves with its output; rejects with the reason why it was closed here. */
  readonly done: Promise<unknown>
  /** Resolves once its agents are open, or have failed to be. Never rejects. */
  ready(): Promise<void>
  send(event: unknown, options?: { readonly requestId?: string }): Promise<void>
  settled(options?: { readonly signal?: AbortSignal }): Promise<void>
  close(): Promise<void>
}

/** A machine that can be opened in this process. */
export interface OfferedMachine {
  readonly name: string
  readonly rules: { readonly version?: string }
  /** Opens it; one without a log begins with `input`. Rejects as `hostMachine` does. */
  open(runtime: object, id: string, options?: OpeningOptions): Promise<OpenHost>
  /** Reads it as it stands in its log, which stays free: nothing of it runs. Rejects as `hostMachine` does, and with `MACHINE_NOT_FOUND`. */
  read(runtime: object, id: string): Promise<OpenHost>
}

/** How a machine is opened. */
export interface OpeningOptions {
  readonly input?: unknown
  readonly takeOver?: boolean
}

interface Hosting {
  /** Machines that are open, by id. */
  readonly open: Map<string, OpenHost>
  /** The machines that came to their end here, by id, the newest last. */
  readonly ended: Map<string, HostView>
  /** Machines that can be opened, by name. */
  readonly offered: Map<string, OfferedMachine>
}

const hostings = new WeakMap<object, Hosting>()

/** Returns the machines of a runtime. */
export function hostingOf(runtime: object): Hosting {
  const hosting = hostings.get(runtime) ?? { open: new Map(), ended: new Map(), offered: new Map() }
  hostings.set(runtime, hosting)
  return hosting
}

/** How many machines that came to their end are listed. */
const mostEnded = 20

/** Remembers a machine that leaves, if it came to its end. */
export function noteEnd({ ended }: Hosting, { view }: OpenHost): void {
  if (view.status !== 'done' && view.status !== 'error') return
  ended.set(view.id, view)
  for (const oldest of ended.keys()) {
    if (ended.size <= mostEnded) return
    ended.delete(oldest)
  }
}
