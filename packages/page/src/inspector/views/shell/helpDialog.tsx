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
      [dot('waiting'), 'a square: waits for a person, or is paused'],
      [dot('failed'), 'filled: its last run failed'],
      [dot(''), 'a ring: idle'],
      [dot('ended'), 'a dash: at rest or stopped'],
    ],
  ],
  [
    'Conversation',
    [
      [<span key="t" class="legend-lane" />, 'the first lane: the trunk, which is what the model sees'],
      [<span key="b" class="legend-lane is-dim" />, 'lanes beside it: branches that were abandoned'],
      [<Icon key="r" name="revert" />, 'a revert: back to an earlier step'],
      [<Icon key="p" name="prune" />, 'a prune or fold: steps hidden behind a memo'],
      [<Icon key="m" name="mask" />, 'masked: the call stays, its result is hidden'],
      [<Icon key="c" name="compact" />, 'a compaction: a summary in place of steps'],
      [<Icon key="i" name="pin" />, 'pinned: never hidden'],
      [<Icon key="g" name="graft" />, 'brought back from an abandoned branch'],
    ],
  ],
  [
    'Requests',
    [
      ['=', 'sent before at the same place: the cache can have it'],
      ['+', 'new, or at another place'],
      ['−', 'sent no more'],
    ],
  ],
  [
    'Words',
    [
      ['trunk', 'the messages from the first to the newest, without branches'],
      ['brake', 'what lets an agent, a policy or a person take something out of its sight'],
      ['lesson', 'what an abandoned branch leaves behind for the model'],
      ['turn', 'one request to the model, and the calls that follow from it'],
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
