import type { HostView } from '../../../wire/src/hostView.ts'

/** A machine that is open in this process, as lists and servers need it. */
export interface OpenHost {
  readonly view: HostView
  /** Its definition, as XState made it. */
  readonly definition: object
  /** True while code in this process holds the machine, or listens to it. */
  readonly isAttended: boolean
  /** Resolves with the machine's output; rejects with the reason why it was closed here. */
  readonly done: Promise<unknown>
  /** Resolves once the machine's agents are open, or have failed to open. Never rejects. */
  ready(): Promise<void>
  send(event: unknown, options?: { readonly requestId?: string }): Promise<void>
  settled(options?: { readonly signal?: AbortSignal }): Promise<void>
  close(): Promise<void>
}

/** A machine that can be opened in this process. */
export interface OfferedMachine {
  readonly name: string
  readonly rules: { readonly version?: string }
  /** Opens the machine; one without a log begins with `input`. Rejects as `hostMachine` does. */
  open(runtime: object, id: string, options?: OpeningOptions): Promise<OpenHost>
  /** Reads the machine from its log, without locking the log or running anything. Rejects as `hostMachine` does, and with `MACHINE_NOT_FOUND`. */
  read(runtime: object, id: string): Promise<OpenHost>
}

/** Options for opening a machine. */
export interface OpeningOptions {
  readonly input?: unknown
  readonly takeOver?: boolean
}

interface Hosting {
  /** Open machines by id. */
  readonly open: Map<string, OpenHost>
  /** Machines that ended in this process, by id, the newest last. */
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

/** Maximum number of ended machines that are listed. */
const mostEnded = 20

/** Remembers a machine that leaves, if it has ended. */
export function noteEnd({ ended }: Hosting, { view }: OpenHost): void {
  if (view.status !== 'done' && view.status !== 'error') return
  ended.set(view.id, view)
  for (const oldest of ended.keys()) {
    if (ended.size <= mostEnded) return
    ended.delete(oldest)
  }
}
