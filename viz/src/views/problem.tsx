// Replaces a report that cannot be shown.
export function Problem({ problem, details }: { problem: string; details: string }) {
  return (
    <main class="problem" role="alert">
      <h1>{problem}</h1>
      <p>{details}</p>
    </main>
  );
}
