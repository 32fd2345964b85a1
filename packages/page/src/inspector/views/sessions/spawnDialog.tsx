import { useState } from 'preact/hooks'
import { say } from '../../model/agent/say.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { oneLine } from '../../model/words/shortText.ts'
import { FormDialog } from '../../parts/formDialog.tsx'

/** Maximum length of a definition's description, in UTF-16 units. */
const longestAbout = 300

/** Starts an agent of a definition the server knows. */
export function SpawnDialog({ inspector, onClose }: { readonly inspector: Inspector; readonly onClose: () => void }) {
  const { client, definitions } = inspector.attached.value.connection
  const [definition, setDefinition] = useState(definitions.value[0] ?? '')
  const about = Object.hasOwn(client.descriptions, definition) ? client.descriptions[definition] : undefined
  const [id, setId] = useState('')
  const [text, setText] = useState('')
  const spawn = async (): Promise<void> => {
    await inspector.attempt(async () => {
      const agent = await client.spawn(definition, id.trim() === '' ? {} : { id: id.trim() })
      onClose()
      inspector.go({ agent: agent.id })
      if (text.trim() === '') return
      inspector.lastPrompt = text
      await say(agent, 'prompt', text)
    })
  }
  return (
    <FormDialog title="Start an agent" verb="Start" onSubmit={() => void spawn()} onClose={onClose}>
      <label class="field">
        <span>Definition</span>
        <select
          class="input"
          value={definition}
          aria-describedby={about === undefined ? undefined : 'definition-about'}
          onChange={({ currentTarget }) => setDefinition(currentTarget.value)}
        >
          {definitions.value.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {about === undefined ? null : (
        <p id="definition-about" class="definition-about muted small">
          {oneLine(about, longestAbout)}
        </p>
      )}
      <label class="field">
        <span>Id</span>
        <input
          class="input mono"
          value={id}
          placeholder="Optional: left empty, one is generated"
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,127}"
          title='1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit'
          onInput={({ currentTarget }) => setId(currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>First prompt</span>
        <textarea
          dir="auto"
          class="input"
          rows={3}
          data-first={definitions.value.length === 1 ? true : undefined}
          value={text}
          placeholder="Optional"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {inspector.lastPrompt === '' || text !== '' ? null : (
        <button type="button" class="button quiet last-prompt" onClick={() => setText(inspector.lastPrompt)}>
          <span class="cut">
            Repeat: <bdi>{oneLine(inspector.lastPrompt)}</bdi>
          </span>
        </button>
      )}
    </FormDialog>
  )
}
