// The facts of the chosen piece, and the messages that are in flight during it.
import type { TimelineModel } from '../../model/timeline/decode';
import { range_of, type Selection } from '../../model/timeline/navigation';
import { facts_of, messages_during, moment_text, name_of, ns_text } from '../../model/timeline/words';
import { bytes_text } from '../../format';

const most_messages = 12;

interface Properties {
  readonly model: TimelineModel;
  readonly selection: Selection;
  readonly select: (selection: Selection) => void;
  readonly partner_of: (rank: number, time: number) => Selection | undefined;
  readonly show: () => void;
}

export function Details({ model, selection, select, partner_of, show }: Properties) {
  const { messages } = model;
  const { from, to } = range_of(selection);
  const { rank } = selection.rank;
  const numbers = selection.track.kind === 'thread' || selection.track.kind === 'waits' ? messages_during(messages, rank, from, to, most_messages) : [];
  return (
    <div class="details">
      <h3>
        <span class="name">{name_of(model, selection.track, selection.piece)}</span>
      </h3>
      <table class="facts-table">
        <tbody>
          {facts_of(model, selection).map(({ name, text }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <button type="button" onClick={show}>
          Zoom to it
        </button>
      </p>
      {numbers.length === 0 ? null : (
        <>
          <p>Messages meanwhile{numbers.length === most_messages ? ', the first of them' : ''}:</p>
          <ul>
            {numbers.map((i) => {
              const is_received = messages.receiver[i] === rank;
              const other = (is_received ? messages.sender[i] : messages.receiver[i]) ?? 0;
              const post = messages.post[i] ?? 0;
              const complete = messages.complete[i] ?? 0;
              const partner = partner_of(other, is_received ? post : complete);
              return (
                <li key={i}>
                  {is_received ? 'from' : 'to'} rank {other}: {bytes_text(messages.bytes[i] ?? 0)}, sent at {moment_text(post, 1000)}, complete {ns_text(complete - post)} later{' '}
                  {partner === undefined ? null : (
                    <button type="button" onClick={() => select(partner)}>
                      {is_received ? 'To its sender' : 'To its receiver'}
                    </button>
                  )}
                </li>
              );
            })}
          </ul>
        </>
      )}
    </div>
  );
}
