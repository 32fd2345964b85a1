import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { ShortcutList } from './shortcutsDialog.tsx'

/** A part of the help. */
export type HelpPart = 'marks' | 'keys'

const tabs: readonly { readonly name: HelpPart; readonly label: string }[] = [
  { name: 'marks', label: 'Marks' },
  { name: 'keys', label: 'Keys' },
]

const dot = (kind: string): ComponentChildren => <span class={`dot ${kind}`} />

/** A mark and its meaning. */
type Mark = readonly [mark: ComponentChildren, what: string]

const groups: readonly (readonly [title: string, marks: readonly Mark[]])[] = [
  [
    'Dots',
    [
      [dot('busy'), 'at work'],
      [dot('waiting'), 'square: waiting for a person, or paused'],
      [dot('failed'), 'filled: last run failed'],
      [dot(''), 'ring: idle'],
      [dot('ended'), 'dash: at rest or stopped'],
    ],
  ],
  [
    'Conversation',
    [
      [<span key="t" class="legend-lane" />, 'first lane: the trunk, which the model sees'],
      [<span key="b" class="legend-lane is-dim" />, 'other lanes: abandoned branches'],
      [<Icon key="r" name="revert" />, 'revert: back to an earlier step'],
      [<Icon key="p" name="prune" />, 'prune or fold: steps hidden behind a memo'],
      [<Icon key="m" name="mask" />, 'masked: the call stays, its result is hidden'],
      [<Icon key="c" name="compact" />, 'compaction: a summary replaces steps'],
      [<Icon key="i" name="pin" />, 'pinned: never hidden'],
      [<Icon key="g" name="bringBack" />, 'brought back from an abandoned branch'],
    ],
  ],
  [
    'Requests',
    [
      ['=', 'unchanged, at the same position: may be cached'],
      ['+', 'new, or at another position'],
      ['−', 'removed'],
    ],
  ],
  [
    'Words',
    [
      ['trunk', 'the messages from the first to the newest, without branches'],
      ['brake', 'lets an agent, a policy or a person hide part of the conversation from the model'],
      ['lesson', 'the note for the model that an abandoned branch leaves behind'],
      ['turn', 'one request to the model and the tool calls in its reply'],
    ],
  ],
]

const panelId = 'help'

export interface HelpDialogProps {
  /** Part that is shown first. */
  readonly part: HelpPart
  readonly onClose: () => void
}

/** Help: the meaning of the page's marks, and the keys. */
export function HelpDialog({ part, onClose }: HelpDialogProps) {
  const [chosen, choose] = useState(part)
  return (
    <Dialog title="Help" onClose={onClose}>
      <Tabs label="Help" tabs={tabs} chosen={chosen} onChoose={choose} panelId={panelId} />
      <div id={panelId} role="tabpanel" aria-labelledby={`${panelId}-${chosen}`}>
        {chosen === 'keys' ? <ShortcutList /> : <Marks />}
      </div>
    </Dialog>
  )
}

const Marks = () => (
  <div class="stack">
    {groups.map(([title, marks]) => (
      <section key={title} aria-label={title}>
        <h3>{title}</h3>
        <dl class="shortcuts legend">
          {marks.map(([mark, what]) => (
            <div key={what}>
              <dt>{mark}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </section>
    ))}
  </div>
)
